// What is on the site, in the order in which it is read. Titles come from the pages themselves.
export const GROUPS = [
  { en: 'Guide', zh: '指南', pages: ['README', 'getting-started', 'which-engine', 'spring', 'cdi', 'kotlin', 'testing', 'coming-from', 'migrating', 'cannot-promise'] },
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
  { en: 'Engines', zh: '引擎', pages: ['engines/redis', 'engines/redlock', 'engines/zookeeper', 'engines/etcd', 'engines/sql'] },
  { en: 'In production', zh: '线上', pages: ['operations', 'console', 'deadlocks', 'observability', 'stored-formats', 'guarantees', 'tested-versions', 'reference', 'cli', 'dependencies', 'glossary', 'faq'] },
  { en: 'Contribute', zh: '参与开发', pages: ['architecture'] },
  { en: 'Inside', zh: '内部（英文）', pages: ['benchmarks', 'torture', 'proof', 'releasing', 'adr/README'], english: true },
]

// Pages that are in English alone.
export const ENGLISH_ONLY = /^\/(zh\/)?(benchmarks|proof|releasing|torture|adr\/)/
