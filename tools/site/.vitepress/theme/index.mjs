import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import { withBase } from 'vitepress'
import { ENGLISH_ONLY } from '../pages.mjs'
import Start from './Start.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-features-after': () => h(Start) }),
  enhanceApp({ router }) {
    // From a page that is in English alone, the switch to Chinese leads to the first page.
    router.onBeforeRouteChange = (to) => {
      const page = to.slice(withBase('/').length - 1)
      if (page.startsWith('/zh/') && ENGLISH_ONLY.test(page)) {
        router.go(withBase('/zh/'))
        return false
      }
      return true
    }
  },
}
