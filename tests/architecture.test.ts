import { expect, test } from 'vitest'
import { brokenImports, readImports } from '../scripts/architecture.ts'

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
