import { globSync, readFileSync } from 'node:fs'

/** Rules that no test cites, citations of rules that do not exist, and rules that are defined twice. */
export function checkRules(rules: string, tests: string[]): string[] {
  const defined = [...rules.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id as string)
  const cited = new Set(tests.flatMap((text) => [...text.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id as string)))
  return [
    ...defined.filter((id, i) => defined.indexOf(id) !== i).map((id) => `${id} is defined twice`),
    ...defined.filter((id) => !cited.has(id)).map((id) => `${id} is cited by no test`),
    ...[...cited].filter((id) => !defined.includes(id)).map((id) => `${id} is cited, but is no rule`),
  ]
}

/** The same for the repository as it stands. */
export function checkRepositoryRules(): string[] {
  const files = globSync(['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'])
  return checkRules(
    readFileSync('docs/rules.md', 'utf8'),
    files.map((file) => readFileSync(file, 'utf8')),
  )
}
