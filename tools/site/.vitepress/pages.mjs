// What is on the site, in the order in which it is read. Titles come from the pages themselves.
export const GROUPS = [
  { en: 'Guide', zh: '指南', pages: ['README', 'getting-started', 'which-engine', 'spring', 'coming-from', 'cannot-promise'] },
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
    ],
  },
  { en: 'Engines', zh: '引擎', pages: ['engines/redis', 'engines/redlock', 'engines/zookeeper', 'engines/etcd', 'engines/sql'] },
  { en: 'In production', zh: '线上', pages: ['operations', 'guarantees', 'tested-versions', 'reference', 'cli', 'faq'] },
  { en: 'Inside', zh: '内部（英文）', pages: ['architecture', 'benchmarks', 'torture', 'proof', 'adr/README'], english: true },
]

// Pages that are in English alone.
export const ENGLISH_ONLY = /^\/(zh\/)?(architecture|benchmarks|proof|torture|adr\/)/
