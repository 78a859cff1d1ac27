// The pages of the site, in the order in which they are read. Titles come from the pages themselves.
export const GROUPS = [
  { en: 'Start', zh: '开始', pages: ['README', 'install', 'getting-started', 'spring', 'cdi', 'kotlin', 'testing', 'examples/README', 'examples/flash-sale', 'examples/order-numbers'] },
  { en: 'Choose', zh: '选择', pages: ['which-engine', 'compared', 'coming-from', 'migrating'] },
  { en: 'Understand', zh: '理解', pages: ['cannot-promise', 'guarantees', 'glossary', 'faq'] },
  {
    en: 'How each lock works',
    zh: '每种锁的原理',
    pages: [
      'how/README',
      'how/memory',
      'how/redis-queued',
      'how/redis-fair',
      'how/redis-shared',
      'how/redis-plain',
      'how/redlock',
      'how/zookeeper-queued',
      'how/zookeeper-shared',
      'how/zookeeper-plain',
      'how/etcd',
      'how/sql',
      'how/election',
      'how/semaphore',
    ],
  },
  { en: 'Operate', zh: '运维', pages: ['operations', 'console', 'observability', 'deadlocks', 'scale', 'cli'] },
  { en: 'Evidence', zh: '证据', pages: ['benchmarks', 'torture', 'proof', 'tested-versions'] },
  { en: 'Reference', zh: '参考', pages: ['reference', 'engines/redis', 'engines/redlock', 'engines/zookeeper', 'engines/etcd', 'engines/sql', 'stored-formats', 'dependencies'] },
  { en: 'Contribute', zh: '参与开发', pages: ['architecture', 'write-a-backend', 'releasing', 'adr/README'] },
]

// Pages without a Chinese version.
export const ENGLISH_ONLY = /^\/(zh\/)?(benchmarks|proof|releasing|torture|write-a-backend|adr\/)/
