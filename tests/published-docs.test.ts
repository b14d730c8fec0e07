import { expect, test } from 'vitest'
import { publishedDocs, withPackageLinks } from '../scripts/published-docs.ts'

test('[SDK-13] the documents of the package link only to each other', () => {
  const docs = publishedDocs()
  expect([...docs.keys()]).toEqual(['README.md', 'guide.md', 'integrations.md', 'errors.md', 'api-stability.md'])
  for (const [name, text] of docs) {
    const targets = [...text.matchAll(/\]\(([^)#]*)[^)]*\)/g)].map(([, target]) => target as string)
    const missing = targets.filter((target) => target !== '' && !/^\w+:/.test(target) && !docs.has(target))
    expect(missing, name).toEqual([])
  }
  expect(docs.get('README.md')).toContain('(guide.md)')
  expect(docs.get('README.md')).not.toContain('npm run generate')
})

test('[SDK-13] a broken link is replaced by its text; others stay unchanged', () => {
  const text = '[a](../../docs/guide.md#files) [b](../../docs/rules.md#x) [c](https://example.com/x) [d](#d)'
  const expected = '[a](guide.md#files) b [c](https://example.com/x) [d](#d)'
  expect(withPackageLinks('packages/client/README.md', text)).toBe(expected)
})
