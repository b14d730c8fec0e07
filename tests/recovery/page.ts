import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const PAGE = readFileSync(new URL('../../docs/recovering.md', import.meta.url), 'utf8')

/** A block of docs/recovering.md by its name, as it stands there: what operators are told to do is what is tried here. */
export function blockOf(name: string): string {
  const [, block] = new RegExp(`<!-- tested: ${name} -->\\n\`\`\`\\w+\\n([^]*?)\`\`\``).exec(PAGE) ?? []
  assert.ok(block, `docs/recovering.md has no block ${name}`)
  return block
}

/** The lines of a block of settings, with the words in `with` in place of the page's. */
export function settingsOf(name: string, words: Record<string, string>): string[] {
  const lines = blockOf(name).trim().split('\n')
  return lines.map((line) => {
    const [, setting, quoted, plain] = /^(\w+) = (?:'(.*)'|(\S+))$/.exec(line) ?? []
    assert.ok(setting, `not a setting: ${line}`)
    const value = (quoted ?? plain ?? '').replaceAll(/\$(\w+)/g, (_, word: string) => words[word] ?? '')
    return `${setting}=${words[setting] ?? value}`
  })
}
