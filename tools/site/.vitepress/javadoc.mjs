// The Javadoc of the last build, if there is one: mvn package -Pfull makes it.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const FOLDERS = ['target/reports/apidocs', 'target/site/apidocs', 'target/apidocs']
const MODULES = ['core', 'backends', 'integrations', 'testing', 'tools']

const hasIndex = (folder) => fs.existsSync(path.join(folder, 'index.html'))

/** The name of a module's artifact, from its jar of Javadoc or from its pom. */
function artifact(module) {
  return fs
    .readFileSync(path.join(module, 'pom.xml'), 'utf8')
    .replace(/<parent>[^]*?<\/parent>/, '')
    .match(/<artifactId>([^<]+)</)[1]
}

function jarOf(module) {
  const target = path.join(module, 'target')
  const jar = fs.existsSync(target) && fs.readdirSync(target).find((file) => file.endsWith('-javadoc.jar'))
  return jar && path.join(target, jar)
}

/** Where Javadoc is: the aggregated one alone, else each module's, as a folder or as a jar. */
export function findJavadoc() {
  const all = FOLDERS.map((folder) => path.join(root, folder)).find(hasIndex)
  if (all) {
    return [{ name: '', from: all }]
  }
  const modules = MODULES.flatMap((group) => [
    path.join(root, group),
    ...fs.readdirSync(path.join(root, group)).map((each) => path.join(root, group, each)),
  ])
  return modules
    .filter((module) => fs.existsSync(path.join(module, 'pom.xml')))
    .map((module) => ({
      module,
      from: FOLDERS.map((folder) => path.join(module, folder)).find(hasIndex) ?? jarOf(module),
    }))
    .filter(({ from }) => from)
    .map(({ module, from }) => ({ name: artifact(module), from }))
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Copies what was found to a folder; with several modules, a list of them is its first page. */
export function copyJavadoc(found, to) {
  for (const { name, from } of found) {
    const folder = path.join(to, name)
    fs.mkdirSync(folder, { recursive: true })
    if (from.endsWith('.jar')) {
      execFileSync('jar', ['--extract', '--file', from], { cwd: folder })
    } else {
      fs.cpSync(from, folder, { recursive: true })
    }
  }
  if (found.length && found[0].name) {
    const items = found.map(({ name }) => `<li><a href="${name}/index.html">${name}</a></li>`).join('\n')
    fs.writeFileSync(
      path.join(to, 'index.html'),
      `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Lockstep: Javadoc</title>
<style>:root{color-scheme:light dark}body{font:16px/1.7 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1.5em}</style></head>
<body><h1>Javadoc</h1><p><a href="../">Lockstep</a></p><ul>
${items}
</ul></body></html>
`,
    )
  }
}
