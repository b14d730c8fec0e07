import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@lockstep/testing/client'
import { inherited } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { WEBHOOK_SETTINGS } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

// Each command is a separate process.
vi.setConfig({ testTimeout: 60_000 })

const { ENCRYPTION_KEY: OLD_KEY } = WEBHOOK_SETTINGS
const NEW_KEY = randomBytes(32).toString('base64')
const script = fileURLToPath(new URL('admin.ts', import.meta.url))

let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

async function reencrypt(settings: Record<string, string>) {
  const env = { ...inherited, DATABASE_URL: service.databaseUrl, ...settings }
  const run = promisify(execFile)(process.execPath, [script, 'reencrypt'], { env })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )
}
const newWebhook = async (nth: number) => {
  const body = { name: `Hook ${nth}`, url: 'http://127.0.0.1:9999/', is_enabled: false }
  return (await board.owner.api.call('createWebhook', { params: { board_id: board.id }, body })).id
}
const secretOf = async (api: Client, webhook_id: string) =>
  (await api.call('getWebhookSecret', { params: { board_id: board.id, webhook_id } })).secret

test('[SECRET-3] reencrypt replaces the key of all secrets, and says which neither key decrypts', async () => {
  const ids = [await newWebhook(1), await newWebhook(2), await newWebhook(3)]
  const [first = '', second = '', third = ''] = ids
  await board.owner.api.call('rotateWebhookSecret', {
    params: { board_id: board.id, webhook_id: first },
    body: { keep_old_hours: 24 },
  })
  const before = [await secretOf(board.owner.api, first), await secretOf(board.owner.api, second)]
  // A secret of another row does not open here, as if its key were lost.
  await service.sql.query('update webhooks set secret = (select secret from webhooks where id = $1) where id = $2', [
    first,
    third,
  ])
  const rotated = { ENCRYPTION_KEY: NEW_KEY, ENCRYPTION_KEY_PREVIOUS: OLD_KEY }
  expect(await reencrypt({})).toMatchObject({ code: 1, stderr: 'ENCRYPTION_KEY is not set.\n' })
  expect(await reencrypt(rotated)).toEqual({
    code: 1,
    stdout: 'The secrets of 2 webhooks were encrypted again\n',
    stderr: `Neither key decrypts the secrets of these webhooks: ${third}\n`,
  })
  await service.sql.query('delete from webhooks where id = $1', [third])
  expect(await reencrypt(rotated)).toEqual({
    code: 0,
    stdout: 'The secrets of 0 webhooks were encrypted again\n',
    stderr: '',
  })
  const { rows } = await service.sql.query("select count(*)::int from admin_actions where action = 'reencrypt'")
  expect(rows).toEqual([{ count: 2 }])
  // Nothing needs the previous key any more, also no secret that signs until a rotation ends.
  const later = await startService({ ENCRYPTION_KEY: NEW_KEY }, { beside: service })
  try {
    const body = { username: board.owner.email, password: PASSWORD }
    const api = new Client(later.baseUrl, (await later.anybody.call('login', { body })).access_token)
    expect([await secretOf(api, first), await secretOf(api, second)]).toEqual(before)
  } finally {
    await later.stop()
  }
})
