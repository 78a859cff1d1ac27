import { createMarkdownRenderer } from 'vitepress'
import { readme } from '../readme.mjs'

export default {
  watch: ['../../../../README*.md'],
  async load() {
    const md = await createMarkdownRenderer('.')
    const page = ({ picture, snippets }) => ({ picture, snippets: snippets.map((code) => md.render(code)) })
    return { en: page(readme('en')), zh: page(readme('zh')) }
  },
}
