import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'
import { copyJavadoc, findJavadoc } from './javadoc.mjs'
import { ENGLISH_ONLY, GROUPS } from './pages.mjs'
import { readme } from './readme.mjs'

const docs = path.resolve(import.meta.dirname, '../../../docs')
const modules = path.resolve(import.meta.dirname, '../node_modules')
const source = process.env.SITE_SOURCE?.replace(/\/$/, '')
const site = process.env.SITE_URL?.replace(/\/*$/, '/')
const base = process.env.SITE_BASE ?? (site ? new URL(site).pathname : '/')
const javadoc = findJavadoc()
const API = 'api'
const STEPS = 'engines/steps'
const WIDE = /[\u3400-\u9fff]/
const WIDE_MARK = /[\u201c\u201d\u3000-\u303f\uff00-\uffef]/
const OVERVIEW = { en: 'Overview', zh: '总览' }

/** GitHub's anchors, so that links work there and here. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

// The two functions below are copied into the pages, so they know nothing outside.

/** The words of a page: of Chinese each two neighbours, and the last character of a run. */
function tokenize(text) {
  const words = /(?=([\u3400-\u9fff]{1,2}))[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[\p{L}\p{N}_])+/gu
  return Array.from(text.toLowerCase().matchAll(words), (word) => word[1] ?? word[0])
}

/** The words of a question: of Chinese each two neighbours, and a character only if it is alone, or too much would be found. */
function tokenizeQuestion(text) {
  const words =
    /(?=([\u3400-\u9fff]{2}))[\u3400-\u9fff]|(?<![\u3400-\u9fff])[\u3400-\u9fff](?![\u3400-\u9fff])|(?:(?![\u3400-\u9fff])[\p{L}\p{N}_])+/gu
  return Array.from(text.toLowerCase().matchAll(words), (word) => word[1] ?? word[0])
}

/** A line that ends in Chinese text is not followed by a space. */
function joinChineseLines(md) {
  md.core.ruler.push('chinese-lines', (state) => {
    for (const block of state.tokens) {
      block.children?.forEach((token, i, all) => {
        const before = all[i - 1]?.content?.at(-1) ?? ''
        const after = all[i + 1]?.content?.at(0) ?? ''
        const glued = WIDE_MARK.test(before) || WIDE_MARK.test(after) || (WIDE.test(before) && WIDE.test(after))
        if (token.type === 'softbreak' && glued) {
          token.type = 'text'
          token.content = ''
        }
      })
    }
  })
}

/** Whether a file is a page or a picture of the site; folders and what explain printed are not. */
function isOnSite(file) {
  return file.startsWith(docs + path.sep) && !file.startsWith(docs + '/' + STEPS) && fs.statSync(file).isFile()
}

/** Marks charts, which are drawn on white, so that the style can turn them dark. */
function markCharts(md) {
  md.core.ruler.push('charts', (state) => {
    for (const block of state.tokens) {
      block.children
        ?.filter((token) => token.type === 'image' && /(^|\/)benchmarks\/[^/]*\.svg$/.test(token.attrGet('src')))
        .forEach((token) => token.attrJoin('class', 'chart'))
    }
  })
}

/** Leads links to what is not on the site to where the project's files can be seen, or leaves their text alone. */
function linkSources(md) {
  md.core.ruler.push('sources', (state) => {
    for (const block of state.tokens) {
      let depth = 0
      block.children = block.children?.filter((token) => {
        if (token.type === 'link_close') {
          return depth === 0 || --depth < 0
        }
        if (token.type !== 'link_open') {
          return true
        }
        const href = token.attrGet('href')
        if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) {
          return true
        }
        const target = path.resolve(path.dirname(state.env.path), decodeURI(href))
        if (isOnSite(target.replace(/#.*/, ''))) {
          token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'))
          return true
        }
        if (source) {
          token.attrSet('href', source + '/' + path.relative(path.dirname(docs), target))
          return true
        }
        depth++
        return false
      })
    }
  })
}

function title(file) {
  return fs
    .readFileSync(path.join(docs, file), 'utf8')
    .match(/^# (.*)$/m)[1]
    .replaceAll('`', '')
    .replace(/^(How it works: |原理：)/, '')
}

function sidebar(language) {
  const prefix = language === 'zh' ? 'zh/' : ''
  return GROUPS.map((group) => ({
    text: group[language],
    items: group.pages
      .map((page) => ({ page, file: (ENGLISH_ONLY.test('/' + page) ? '' : prefix) + page + '.md' }))
      .filter(({ file }) => fs.existsSync(path.join(docs, file)))
      .map(({ page, file }) => ({
        text: /^(how\/)?README$/.test(page) ? OVERVIEW[language] : title(file),
        link: '/' + file.replace(/README\.md$/, '').replace(/\.md$/, ''),
      })),
  }))
}

/** The first paragraph of a page as plain text, for search engines and previews of links. */
function description(file) {
  const paragraph = fs
    .readFileSync(path.join(docs, file), 'utf8')
    .split(/\n{2,}/)
    .find((block) => /^[^#|`<!\-\s]/.test(block) && !/^\[[^\]]*]\([^)]*\)$/.test(block))
  const text = (paragraph ?? '')
    .replace(/!?\[([^\]]*)]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
  return text.length > 200 ? text.slice(0, 199).trimEnd() + '…' : text
}

/** The start page: above the list of all pages stands what the README shows first. */
function startPage(language) {
  const { sentence, against, figures } = readme(language)
  const words = START[language]
  return {
    layout: 'home',
    hero: { name: 'Lockstep', text: words.text, tagline: sentence.replace(/`([^`]+)`/g, '<code>$1</code>'), actions: words.actions },
    features: figures.map(({ workload, ratio, range }) => ({
      title: `${ratio} <small>(${range})</small>`,
      details: `${words.faster}${workload}<br><small>${against}</small>`,
      link: '/benchmarks',
    })),
  }
}

const START = {
  en: {
    text: 'Distributed locks for Java',
    faster: 'faster: ',
    actions: [
      { theme: 'brand', text: 'Install', link: '/install' },
      { theme: 'alt', text: 'Getting started', link: '/getting-started' },
      { theme: 'alt', text: 'Spring', link: '/spring' },
      { theme: 'alt', text: 'Compared with others', link: '/compared' },
      { theme: 'alt', text: 'Who holds a lock?', link: '/console' },
    ],
  },
  zh: {
    text: 'Java 分布式锁',
    faster: '速度之比：',
    actions: [
      { theme: 'brand', text: '安装', link: '/zh/install' },
      { theme: 'alt', text: '快速上手', link: '/zh/getting-started' },
      { theme: 'alt', text: 'Spring', link: '/zh/spring' },
      { theme: 'alt', text: '与其他库的比较', link: '/zh/compared' },
      { theme: 'alt', text: '谁持有锁？', link: '/zh/console' },
    ],
  },
}

/** Where a page can be changed: GitHub and GitLab edit where they show, with another word in the address. */
const editLink = (text) => source && { pattern: source.replace('/blob/', '/edit/') + '/docs/:path', text }

/** A link out of the pages of VitePress, which its router leaves alone. */
const api = javadoc.length ? [{ text: 'Javadoc', link: `/${API}/index.html`, target: '_self' }] : []

const theme = {
  en: {
    nav: [
      { text: 'Start', link: '/getting-started' },
      { text: 'Choose', link: '/which-engine' },
      { text: 'Understand', link: '/how/' },
      { text: 'Operate', link: '/operations' },
      { text: 'Evidence', link: '/benchmarks' },
      { text: 'Reference', link: '/reference' },
      ...api,
    ],
    editLink: editLink('Edit this page'),
    sidebar: sidebar('en'),
    outline: { level: [2, 3], label: 'On this page' },
    notFound: { title: 'No such page', quote: 'It may have been renamed: try the search.', linkText: 'Go to the start page' },
  },
  zh: {
    nav: [
      { text: '开始', link: '/zh/getting-started' },
      { text: '选择', link: '/zh/which-engine' },
      { text: '理解', link: '/zh/how/' },
      { text: '运维', link: '/zh/operations' },
      { text: '证据', link: '/benchmarks' },
      { text: '参考', link: '/zh/reference' },
      ...api,
    ],
    editLink: editLink('编辑本页'),
    sidebar: sidebar('zh'),
    outline: { level: [2, 3], label: '本页目录' },
    docFooter: { prev: '上一页', next: '下一页' },
    darkModeSwitchLabel: '外观',
    sidebarMenuLabel: '目录',
    returnToTopLabel: '回到顶部',
    langMenuLabel: '切换语言',
    notFound: { title: '没有这一页', quote: '它也许只有英文版。', linkText: '回到首页' },
  },
}

const searchInChinese = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详情',
    resetButtonTitle: '清空',
    backButtonTitle: '返回',
    noResultsText: '没有找到：',
    footer: { selectText: '打开', navigateText: '移动', closeText: '关闭' },
  },
}

export default defineConfig({
  title: 'Lockstep',
  description: 'Distributed locks for Java',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: base + 'favicon.svg' }]],
  sitemap: site ? { hostname: site } : undefined,
  transformPageData(page) {
    if (/^(zh\/)?index\.md$/.test(page.relativePath)) {
      const language = page.relativePath.startsWith('zh/') ? 'zh' : 'en'
      page.frontmatter = startPage(language)
      page.title = 'Lockstep'
      page.titleTemplate = START[language].text
    } else {
      page.description = description(page.filePath)
    }
  },
  transformHead({ pageData, title, description }) {
    const chinese = pageData.relativePath.startsWith('zh/')
    const tags = {
      'og:site_name': 'Lockstep',
      'og:type': pageData.frontmatter.layout === 'home' ? 'website' : 'article',
      'og:title': title,
      'og:description': description,
      'og:locale': chinese ? 'zh_CN' : 'en_US',
    }
    const head = []
    if (site) {
      tags['og:url'] = site + pageData.relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
      tags['og:image'] = site + 'card.png'
      head.push(['link', { rel: 'canonical', href: tags['og:url'] }])
    }
    return [...head, ...Object.entries(tags).map(([property, content]) => ['meta', { property, content }])]
  },
  buildEnd: ({ outDir }) => copyJavadoc(javadoc, path.join(outDir, API)),
  srcDir: docs,
  srcExclude: [STEPS + '/**'],
  outDir: '../../target/site',
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  markdown: {
    anchor: { slugify },
    config: (md) => {
      linkSources(md)
      joinChineseLines(md)
      markCharts(md)
    },
  },
  // The pages are not beside node_modules, and find Vue by name.
  vite: {
    publicDir: path.resolve(import.meta.dirname, '../public'),
    resolve: { alias: { 'vue/server-renderer': modules + '/vue/server-renderer', vue: modules + '/vue' } },
  },
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: theme.en },
    zh: { label: '简体中文', lang: 'zh-CN', description: 'Java 分布式锁', themeConfig: theme.zh },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: searchInChinese } },
        miniSearch: { options: { tokenize }, searchOptions: { tokenize: tokenizeQuestion } },
      },
    },
  },
})
