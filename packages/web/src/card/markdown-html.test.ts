import { describe, expect, test } from 'vitest'
import { markdownHtml, numbersIn } from './markdown-html.ts'

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

describe('the number of a card', () => {
  const cards = new Map([
    [12, { id: 'a', href: '/app/b/board/c/a', title: 'Fix "it" <now> & $&', isDone: false }],
    [7, { id: 'b', href: '/app/b/board/c/b', title: 'Old', isDone: true }],
  ])
  const linksIn = (text: string) =>
    [...markdownHtml(text, { cards }).matchAll(/<a [^>]*cd-card-link[^>]*>([^<]*)</g)].map(([, label]) => label)

  test('[NUM-3] is a link with the title of the card, which says whether it is done', () => {
    expect(markdownHtml('See #12.', { cards })).toBe(
      '<p>See <a href="/app/b/board/c/a" class="cd-card-link" title="Fix &quot;it&quot; &lt;now&gt; &amp; $&amp;"' +
        ' aria-label="#12 Fix &quot;it&quot; &lt;now&gt; &amp; $&amp;">#12</a>.</p>',
    )
    expect(markdownHtml('#7', { cards })).toContain(
      'class="cd-card-link is-done" title="Old" aria-label="#7 Old (done)"',
    )
  })

  test.each([
    '(#12)',
    '#12, #7',
    '**#12**',
    '- [ ] #12',
    '# About #12',
    '| a |\n| - |\n| #12 |',
    '> #12',
    '[x] #12',
    '\\#12',
    '#12–#7',
    'Ü #12',
  ])('[NUM-3] is a link in “%s”', (text) => {
    expect(linksIn(text)[0]).toBe('#12')
  })

  test.each([
    '`#12`',
    '```\n#12\n```',
    '    #12',
    '[#12](https://example.com)',
    '[see #12](#x)',
    'https://example.com/#12',
    'https://example.com/a#12',
    'a#12',
    'ä#12',
    '_#12a',
    '#12a',
    '##12',
    '#012',
    '#0',
    '#13',
    '&#12;',
    '/x/#12',
    '![#12](https://example.com/x.png)',
    '#1234567890',
    '# 12',
  ])('[NUM-3] is no link in “%s”', (text) => {
    expect(linksIn(text)).toEqual([])
  })

  test('[NUM-3] is text where there is no board', () => {
    expect(markdownHtml('See #12')).toBe('<p>See #12</p>')
  })

  test('[NUM-3] is found in a text, each once', () => {
    expect([...numbersIn('#12 a#3 <b #4> #12\n`#5` #0')]).toEqual([12, 4, 5])
  })
})
