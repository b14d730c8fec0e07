import { describe, expect, test } from 'vitest'
import { markdownHtml } from './markdown-html.ts'

test('[WEB-25] raw HTML is shown as text', () => {
  const html = markdownHtml('<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> and <b onclick="x()">b</b>')
  expect(html).not.toMatch(/<(script|img|b)\b/)
  expect(html).toContain('&lt;script&gt;')
})

test('[WEB-25] dangerous URLs are dropped', () => {
  const dangerous = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'java&#10;script:x',
    'xmpp:room@example.com',
    'ircs://example.com',
  ]
  for (const address of dangerous) {
    const html = markdownHtml(`[a](${address}) ![b](${address}) <${address}>`)
    expect(html).not.toMatch(/(href|src)="[^"]*(script|data|xmpp|ircs):/i)
  }
})

test('[WEB-25] a link opens in a new tab without a referrer', () => {
  expect(markdownHtml('[a](https://example.com "t") https://example.org')).toBe(
    '<p><a href="https://example.com" target="_blank" rel="noopener noreferrer nofollow">a</a> ' +
      '<a href="https://example.org" target="_blank" rel="noopener noreferrer nofollow">https://example.org</a></p>',
  )
})

test('[WEB-25] an image becomes a link: nothing is loaded from other sites', () => {
  expect(markdownHtml('![a "cat"](https://example.com/cat.png)')).toBe(
    '<p><a href="https://example.com/cat.png" target="_blank" rel="noopener noreferrer nofollow">a &quot;cat&quot;</a></p>',
  )
  expect(markdownHtml('![](https://example.com/cat.png)')).toContain('>https://example.com/cat.png</a>')
  expect(markdownHtml('[![cat](https://example.com/cat.png)](https://example.com)').match(/<a /g)).toHaveLength(1)
})

test('[WEB-25] text that looks like a tag in titles, alternative texts and code is escaped', () => {
  const html = markdownHtml('![a> <a href="x" onclick="y">](https://e.com "t> <img src=x>")\n\n`<img src="x">`')
  expect(html.replaceAll(/<\/?(p|code|a)\b[^<>]*>/g, '')).not.toContain('<')
  expect(html).not.toMatch(/<[^>]* on\w+=/)
})

test('[WEB-25] a task list item is a checkbox with its text as name and its position in the Markdown', () => {
  const text = '- [x] a\n- [ ] b **bold** "q" $&\n  - [ ] c'
  expect(markdownHtml(text, { canTick: true }).match(/<input[^>]*>/g)).toEqual([
    '<input type="checkbox" aria-label="a" data-task="2" checked="" />',
    '<input type="checkbox" aria-label="b bold &quot;q&quot; $&amp;" data-task="10" />',
    '<input type="checkbox" aria-label="c" data-task="36" />',
  ])
  expect(markdownHtml('- [ ] ![](x)\n\n  more')).toContain(
    '<input type="checkbox" aria-label="Task" data-task="2" disabled="" />',
  )
})

describe('an image', () => {
  const id = '0192f0c5-0000-7000-8000-000000000001'
  const images = new Set([id])
  const isImage = (text: string) => markdownHtml(text, { images }).includes('<img')

  test('[WEB-25] of the card is shown', () => {
    expect(markdownHtml(`![a "cat"](/attachments/${id})`, { images })).toBe(
      `<p><img src="/attachments/${id}" alt="a &quot;cat&quot;" loading="lazy" /></p>`,
    )
    expect(isImage(`[![cat](/attachments/${id})](https://example.com)`)).toBe(true)
    expect(isImage(`![cat][ref]\n\n[ref]: /attachments/${id}`)).toBe(true)
  })

  test('[WEB-25] from anywhere else stays a link', () => {
    const others = [
      `https://example.com/attachments/${id}`,
      `//example.com/attachments/${id}`,
      `/attachments/${id}?x`,
      `/attachments/${id}/../x`,
      `/attachments/${id.replace('1', '2')}`,
      `attachments/${id}`,
      '/boards',
    ]
    for (const address of others) expect(isImage(`![cat](${address})`), address).toBe(false)
    expect(markdownHtml(`![cat](/attachments/${id})`)).toContain(`<a href="/attachments/${id}"`)
  })
})
