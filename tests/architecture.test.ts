import { describe, expect, test } from 'vitest'
import { brokenImports, readImports } from '../scripts/architecture.ts'
import { checkRepositoryRules, checkRepositoryWeaknesses, checkRules, checkWeaknesses } from '../scripts/rules.ts'

describe('imports', () => {
  test('[DOC-4] the repository keeps its import rules', () => {
    const imports = readImports()
    expect(imports.size).toBeGreaterThan(40)
    expect(brokenImports(imports)).toEqual([])
  })

  test.each([
    ['packages/contract/src/cards.ts', 'fastify'],
    ['packages/client/src/client.ts', 'packages/contract/src/cards.ts'],
    ['packages/client/src/client.ts', 'node:crypto'],
    ['packages/cli/src/boards.ts', 'packages/contract/src/boards.ts'],
    ['packages/cli/src/boards.ts', 'packages/server/src/main.ts'],
    ['packages/web/src/board-state/board-tools.ts', 'packages/web/src/board/board-page.tsx'],
    ['packages/web/src/card-dialog/card-dialog.tsx', 'packages/web/src/board/card-face.tsx'],
    ['packages/web/src/card/card-head.tsx', 'packages/web/src/members/member-row.tsx'],
    ['packages/server/src/http/routes.ts', 'packages/server/src/cards/card-queries.ts'],
    ['packages/server/src/boards/board-operations.ts', 'packages/server/src/cards/card-operations.ts'],
    ['packages/server/src/cards/card-queries.ts', 'packages/server/src/core/change-board.ts'],
    ['packages/server/src/core/authorize.ts', 'packages/server/src/http/routes.ts'],
    ['packages/server/src/platform/json.ts', 'packages/server/src/database/database.ts'],
    ['packages/server/src/realtime/bus.ts', 'packages/server/src/cards/card-queries.ts'],
    ['packages/server/src/administration/admin.ts', 'packages/server/src/app.ts'],
    ['packages/server/src/http/routes.ts', 'packages/testing/src/client.ts'],
  ])('[DOC-4] %s must not import %s', (file, forbidden) => {
    const imports = readImports()
    imports.set(file, [...(imports.get(file) ?? []), forbidden])
    expect(brokenImports(imports)).toContainEqual(expect.stringContaining(`${file} imports ${forbidden}`))
  })

  test('[DOC-4] a cycle is found', () => {
    const imports = readImports()
    imports.set('packages/server/src/core/ordering/rank.ts', ['packages/server/src/core/ordering/placement.ts'])
    expect(brokenImports(imports)).toContainEqual(expect.stringContaining('a cycle'))
  })
})

describe('rules', () => {
  const rules = '- **CARD-1** A card …\n- **CARD-2** Another …\n'

  test('[DOC-4] every rule is cited by a test, and every citation is a rule', () => {
    expect(checkRepositoryRules()).toEqual([])
  })

  test('[DOC-4] a rule that no test cites is found, a citation without a rule too', () => {
    expect(checkRules(rules, ["test('[CARD-1] …')", "test('[CARD-2] …')"])).toEqual([])
    expect(checkRules(rules, ["test('[CARD-1] …')"])).toEqual(['CARD-2 is cited by no test'])
    expect(checkRules(rules, ["test('[CARD-1] [CARD-2] [CARD-3] …')"])).toEqual(['CARD-3 is cited, but is not a rule'])
    expect(checkRules(rules + rules, ["test('[CARD-1] [CARD-2] …')"])).toEqual([
      'CARD-1 is defined twice',
      'CARD-2 is defined twice',
    ])
  })
})

describe('known weaknesses', () => {
  const table = `
| Id | What went wrong elsewhere | How it is met here |
| --- | --- | --- |
| V01 | Something | “is refused” |
| V02 | Something else | cannot occur: there is nothing of the kind |
`
  /** Written so that the check of the repository does not take it for a test. */
  const citing = (id: string) => `test('[CARD-1] [${id}] a stranger is refused', …`
  const tests = [citing('V01'), "test('[CARD-1] something else', …"]
  const check = (changed: string, some = tests) => checkWeaknesses(changed, some, 2)

  test('[DOC-8] each is met by a test or by a reason', () => {
    expect(checkRepositoryWeaknesses()).toEqual([])
  })

  test('[DOC-8] one that nothing meets is found, and a citation of none', () => {
    expect(check(table)).toEqual([])
    expect(check(table, [])).toEqual([
      'V01 is cited by no test, and has no reason why it cannot occur',
      'V01 is met by “is refused”, but no such test cites it',
    ])
    expect(check(table.replace('cannot occur:', 'hardly:'))).toEqual([
      'V02 is cited by no test, and has no reason why it cannot occur',
    ])
    expect(check(table, [...tests, citing('V03')])).toEqual(['V03 is cited, but is not in the table'])
    expect(check(table.replace('V02', 'V01'))).toEqual(['V02 is not in the table', 'V01 is in the table twice'])
    expect(check(table.replace('is refused', 'is welcome'))).toEqual([
      'V01 is met by “is welcome”, but no such test cites it',
    ])
    expect(check(table.replace('cannot occur:', 'pending:'))).toEqual(['V02 is pending: there is nothing of the kind'])
  })
})
