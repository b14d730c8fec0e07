import { afterEach, describe, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** The messages of a page that was loaded with this language in the browser's storage. */
async function messagesIn(language: string | null) {
  vi.stubGlobal('document', {})
  vi.stubGlobal('localStorage', { getItem: (key: string) => (key === 'lockstep/language' ? language : null) })
  const { defineMessages, params, plural } = await import('./i18n.ts')
  return defineMessages('test', {
    plain: 'Add card',
    named: params('“{title}” in {column}'),
    counted: plural({ one: '{count} card of {all}', other: '{count} cards of {all}' }),
  })
}

describe('messages', () => {
  test('[WEB-135] a value may contain braces, and characters that a replacement would treat as special', async () => {
    const t = await messagesIn(null)
    expect(t.plain).toBe('Add card')
    expect(t.named({ title: '{column} $& {x}', column: 'To do' })).toBe('“{column} $& {x}” in To do')
  })

  test('[WEB-136] the form follows the number, which is written as in the browser’s language', async () => {
    const t = await messagesIn(null)
    const number = (value: number) => new Intl.NumberFormat(navigator.language).format(value)
    expect([1, 0, 2_000].map((count) => t.counted({ count, all: 10_000 }))).toEqual([
      `1 card of ${number(10_000)}`,
      `0 cards of ${number(10_000)}`,
      `${number(2_000)} cards of ${number(10_000)}`,
    ])
  })

  test('[WEB-135] the pseudo-language marks every text, and leaves the values as they are', async () => {
    const t = await messagesIn('en-XA')
    expect(t.plain).toBe('⟦Ádd çárd⟧')
    expect(t.named({ title: 'name', column: 'To do' })).toBe('⟦“name” íñ To do⟧')
    expect(t.counted({ count: 1, all: 2 })).toBe('⟦1 çárd óf 2⟧')
  })
})
