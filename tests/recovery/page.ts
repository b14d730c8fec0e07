import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const PAGE = readFileSync(new URL('../../docs/recovering.md', import.meta.url), 'utf8')

/** A named code block of docs/recovering.md, so that tests run exactly the documented commands. */
export function blockOf(name: string): string {
  const [, block] = new RegExp(`<!-- tested: ${name} -->\\n\`\`\`\\w+\\n([^]*?)\`\`\``).exec(PAGE) ?? []
  assert.ok(block, `docs/recovering.md has no block ${name}`)
  return block
}

/** The settings of a block, with variables and values replaced. */
export function settingsOf(name: string, values: Record<string, string>): string[] {
  const lines = blockOf(name).trim().split('\n')
  return lines.map((line) => {
    const [, setting, quoted, plain] = /^(\w+) = (?:'(.*)'|(\S+))$/.exec(line) ?? []
    assert.ok(setting, `not a setting: ${line}`)
    const value = (quoted ?? plain ?? '').replaceAll(/\$(\w+)/g, (_, word: string) => values[word] ?? '')
    return `${setting}=${values[setting] ?? value}`
  })
}
