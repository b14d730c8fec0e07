import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../../.test-output/readme/', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code as string)

let service: TestService
beforeAll(async () => {
  service = await startService()
  mkdirSync(folder, { recursive: true })
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await service.stop()
})

/** Declarations that the later code blocks assume. */
const GIVEN = `
import { type Client, createClient, type FullBoard } from '@lockstep/client'
declare const baseUrl: string
declare const board_id: string
declare const card_id: string
declare const title: string
declare const bar: { value: number }
declare const input: { files: [File] }
declare const showConflict: (current: unknown) => void
declare const mark: (field: string, message: string) => void
declare const showOffline: () => void
declare const show: (board: FullBoard) => void
declare const secret: string
declare const newSecret: string
declare const last: Map<string, string>
`

test('[SDK-2] the code in the README compiles with the strictest options', () => {
  blocks.forEach((code, i) => {
    const client = code.includes('const client =') ? '' : 'declare const client: Client\n'
    const etag = code.includes('const { data, etag') ? '' : 'declare const etag: string\n'
    writeFileSync(`${folder}block-${i}.ts`, i === 0 ? code : GIVEN + client + etag + code)
  })
  const compilerOptions = { lib: ['ES2024', 'DOM'], types: [] }
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(config))
  expect(blocks.length).toBeGreaterThan(4)
  expect(spawnSync('tsc', ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' }).stdout).toBe('')
})

test('[SDK-1] the first code block in the README runs as it stands', async () => {
  const { email } = await service.user()
  const [first = ''] = blocks
  const code = first
    .replace('http://127.0.0.1:8000', service.baseUrl)
    .replace('ada@example.com', email)
    .replace('correct horse', PASSWORD)
  writeFileSync(`${folder}first.ts`, code)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [`${folder}first.ts`])
  expect(stdout + stderr).toBe('')
  const { rows } = await service.sql.query('select title from cards')
  expect(rows).toEqual([{ title: 'Write the first call' }])
})
