import { globSync, readFileSync } from 'node:fs'

/** Finds rules that no test cites, citations of unknown rules, and duplicate definitions. */
export function checkRules(rules: string, tests: string[]): string[] {
  const defined = [...rules.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id as string)
  const cited = new Set(tests.flatMap((text) => [...text.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id as string)))
  return [
    ...repeated(defined).map((id) => `${id} is defined twice`),
    ...defined.filter((id) => !cited.has(id)).map((id) => `${id} is cited by no test`),
    ...[...cited].filter((id) => !defined.includes(id)).map((id) => `${id} is cited, but is not a rule`),
  ]
}

/** The number of known weaknesses. */
const WEAKNESSES = 41

/**
 * Compares the table of known weaknesses with the tests. Each weakness is listed once, and has a test that cites it (`[V07]`) or
 * a reason why it cannot occur. A quote (“…”) in the table is part of the name of a test that cites the id.
 */
export function checkWeaknesses(table: string, tests: string[], count = WEAKNESSES): string[] {
  const rows = [...table.matchAll(/^\| (V\d\d) \| .+? \| (.+) \|$/gm)].map(([, id, met]) => ({
    id: id as string,
    met: met as string,
  }))
  const listed = rows.map(({ id }) => id)
  const names = tests.flatMap((text) => text.split('\n').filter((line) => /\[V\d\d\]/.test(line)))
  const naming = (id: string) => names.filter((name) => name.includes(`[${id}]`))
  const cited = [...new Set(names.flatMap((name) => [...name.matchAll(/\[(V\d\d)\]/g)].map(([, id]) => id as string)))]
  const expected = Array.from({ length: count }, (_, i) => `V${String(i + 1).padStart(2, '0')}`)
  return [
    ...expected.filter((id) => !listed.includes(id)).map((id) => `${id} is not in the table`),
    ...repeated(listed).map((id) => `${id} is in the table twice`),
    ...cited.filter((id) => !listed.includes(id)).map((id) => `${id} is cited, but is not in the table`),
    ...rows.flatMap(({ id, met }) => {
      if (met.includes('pending:')) return [`${id} is ${met}`]
      const quoted = [...met.matchAll(/“([^”]+)”/g)].map(([, name]) => name as string)
      const unknown = quoted.filter((name) => !naming(id).some((title) => title.includes(name)))
      const isMet = naming(id).length > 0 || /cannot occur: \S/.test(met)
      return [
        ...(isMet ? [] : [`${id} is cited by no test, and has no reason why it cannot occur`]),
        ...unknown.map((name) => `${id} is met by “${name}”, but no such test cites it`),
      ]
    }),
  ]
}

const repeated = (ids: string[]) => ids.filter((id, i) => ids.indexOf(id) !== i)

function readTests(): string[] {
  const files = globSync([
    'packages/*/src/**/*.test.ts',
    'packages/testing/src/**/*scenarios.ts',
    '{bench,tests}/**/*.test.ts',
  ])
  return files.map((file) => readFileSync(file, 'utf8'))
}

/** Checks the rules of this repository. */
export const checkRepositoryRules = () => checkRules(readFileSync('docs/rules.md', 'utf8'), readTests())
/** Checks the known weaknesses of this repository. */
export const checkRepositoryWeaknesses = () =>
  checkWeaknesses(readFileSync('docs/known-weaknesses.md', 'utf8'), readTests())
