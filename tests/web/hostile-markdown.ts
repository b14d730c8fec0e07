import type { Page } from 'playwright-core'

/** Markdown that tries to run scripts, load resources and hide links. */
export const HOSTILE = [
  '<script>globalThis.broken = "script"</script>',
  '<img src=x onerror="globalThis.broken = 1"> and <svg onload="globalThis.broken = 2"></svg>',
  '<a href="javascript:globalThis.broken = 3">raw</a> <iframe src="https://evil.example/frame"></iframe>',
  '<style>@import "https://evil.example/style.css"; body { display: none }</style>',
  '<!-- a comment --> <!--><img src=x onerror="globalThis.broken = 4">-->',
  '[script](javascript:globalThis.broken=5) [SCRIPT](JaVaScRiPt:globalThis.broken=5) [tab](java&#9;script:globalThis.broken=5)',
  '[data](data:text/html,<script>globalThis.broken=6</script>) [vb](vbscript:x) [file](file:///etc/passwd) [blob](blob:x)',
  '[chat](xmpp:room@example.com) [irc](irc://example.com) [phone](tel:123)',
  '![x](https://evil.example/track.png) ![y](javascript:globalThis.broken=7) ![z](x" onerror="globalThis.broken=8)',
  '[a[b[c](javascript:globalThis.broken=9)](https://good.example/nested)](javascript:globalThis.broken=9)',
  '[quote](https://good.example/" onmouseover="globalThis.broken=10) [tick](<https://good.example/\'> "t\' onclick=\'x")',
  '<https://good.example/auto> <javascript:globalThis.broken=11> www.good.example someone@good.example',
  '[ref]: javascript:globalThis.broken=12\n\n[ref] [^note]\n\n[^note]: <b onclick="globalThis.broken=13">note</b>',
  '| a | <img src=x onerror=globalThis.broken=14> |\n|---|---|\n| `<script>` | [x](javascript:globalThis.broken=15) |',
  `${'['.repeat(200)}x${']'.repeat(200)}(javascript:globalThis.broken=16)`,
  '&lt;script&gt;globalThis.broken = 17&lt;/script&gt;',
].join('\n\n')

/** What a rendered text contains of what it must not, and how many links of the text are kept. */
export const inspectMarkdown = (page: Page, selector: string) =>
  page.evaluate(`(() => {
  const all = [...document.querySelectorAll('${selector} *')]
  const links = all.filter((each) => each.localName === 'a' && each.hasAttribute('href'))
  return {
    broken: String(globalThis.broken),
    tags: [...new Set(all.map((each) => each.localName))].filter((tag) => /script|img|iframe|style|svg|form|object|embed|link|meta|base/.test(tag)),
    handlers: all.flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style'),
    schemes: [...new Set(links.map((link) => link.protocol))].filter((each) => !['https:', 'http:', 'mailto:'].includes(each)),
    // Links within the text stay on the page.
    unguarded: links.filter((link) => !link.getAttribute('href').startsWith('#'))
      .filter(({ target, rel }) => target !== '_blank' || !rel.includes('noopener')).map((link) => link.outerHTML),
    kept: links.filter((link) => link.hostname === 'good.example').length,
  }
})()`) as Promise<Record<string, unknown> & { kept: number }>
export const HARMLESS = { broken: 'undefined', tags: [], handlers: [], schemes: [], unguarded: [] }
