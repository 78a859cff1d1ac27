// The parts of the README that the start page shows, so that there is one place to change it, which the build checks.
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const FIGURE = /^\| ([^|]+) \| ([\d.]+×) \(([^)]+)\) \|$/gm

/** The first sentence, the text of the picture, the first two snippets and the headline figures. */
export function readme(language) {
  const text = fs.readFileSync(path.join(root, language === 'zh' ? 'README.zh-CN.md' : 'README.md'), 'utf8')
  const [sentence] = text.match(/^Lockstep [^]*?(?=\n\n)/m)
  const snippets = Array.from(text.matchAll(/^```java\n[^]*?^```$/gm), (block) => block[0]).slice(0, 2)
  const figures = Array.from(text.matchAll(FIGURE), ([, workload, ratio, range]) => ({ workload, ratio, range }))
  if (snippets.length !== 2 || figures.length !== 3) {
    throw new Error('The README no longer has two snippets and three figures: ' + language)
  }
  return {
    sentence: sentence.replace(/\n/g, ' '),
    picture: text.match(/!\[([^\]]*)]\(docs\/drawings\/pause/)[1],
    against: text.match(/^\| ([^|]*Redisson[^|]*) \|/m)[1],
    snippets,
    figures,
  }
}
