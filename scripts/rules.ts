import { globSync, readFileSync } from 'node:fs'

/** Finds rules that no test cites, citations of unknown rules, and duplicate definitions. */
function checkRules(rules: string, tests: string[]): string[] {
  const defined = [...rules.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id as string)
  const cited = new Set(tests.flatMap((text) => [...text.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id as string)))
  return [
    ...repeated(defined).map((id) => `${id} is defined twice`),
    ...defined.filter((id) => !cited.has(id)).map((id) => `${id} is cited by no test`),
    ...[...cited].filter((id) => !defined.includes(id)).map((id) => `${id} is cited, but is not a rule`),
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
