import { expect, test } from 'vitest'
import { isRenderable } from './markdown-limits.ts'

test('[WEB-119] text that would take seconds to parse is not parsed', () => {
  const attacks = {
    'nested quotes': '> '.repeat(30_000),
    'nested quotes on one short line': 'a\n  > > > > > > > > > > > > > > > > > > > > a',
    'nested lists': '1. '.repeat(100),
    'open links': '[a]('.repeat(16_000),
    'few open links, many brackets': ']'.repeat(1_001),
    emphasis: `${'*'.repeat(600)}a${'*'.repeat(600)}`,
    'mixed emphasis': '*_'.repeat(600),
    headings: 'a\n=\n'.repeat(1_001),
    length: 'a'.repeat(20_001),
  }
  expect(Object.entries(attacks).flatMap(([name, text]) => (isRenderable(text) ? [name] : []))).toEqual([])
})

test('[WEB-119] ordinary text is parsed', () => {
  const section =
    '## A heading\n\n- **bold** and _italic_, a [link](https://example.com) and `code`\n  - [ ] task\n\n> quote\n'
  const table = `| a | b |\n| --- | --- |\n${'| 1 | 2 |\n'.repeat(200)}`
  for (const text of ['', 'plain', section.repeat(60), table, `${'word '.repeat(3_990)}end`, '---\n* * *\n> > > reply'])
    expect(isRenderable(text)).toBe(true)
})
