import { sql } from 'kysely'
import { inBatches } from '../database/batches.ts'
import { type Database, statement } from '../database/database.ts'
import type { SecretBox } from '../security/secret-box.ts'
import { secretContext } from '../webhooks/dispatcher.ts'
import { type Actor, record } from './admin-steps.ts'

const BATCH_ROWS = 500

interface Secrets {
  board_id: string
  id: string
  secret: Buffer
  old_secret: Buffer | null
}
const listSecrets = statement(
  'list_webhook_secrets',
  (args: { board_id: string; id: string }) => sql<Secrets>`
    select board_id, id, secret, old_secret from webhooks
    where (board_id, id) > (${args.board_id}, ${args.id}) order by board_id, id limit ${sql.lit(BATCH_ROWS)}`,
)
const replaceSecrets = statement(
  'replace_webhook_secrets',
  (args: Secrets & { read_secret: Buffer }) => sql`
    update webhooks set secret = ${args.secret}, old_secret = ${args.old_secret}
    where board_id = ${args.board_id} and id = ${args.id} and secret = ${args.read_secret}`,
)
const NIL_ID = '00000000-0000-0000-0000-000000000000'

export interface Reencrypted {
  /** Webhooks whose secrets were encrypted with the previous key. */
  changed: number
  /** Webhooks whose secrets neither key decrypts. */
  lost: string[]
}

/**
 * Encrypts the secrets of all webhooks with the current key, so that the previous one can be removed. Can be repeated at any
 * time. A secret that is rotated meanwhile is left alone: the service encrypts it with the current key.
 */
export async function reencrypt(db: Database, box: SecretBox, actor: Actor): Promise<Reencrypted> {
  await record(db, actor, 'reencrypt', null, {})
  const lost: string[] = []
  let changed = 0
  let last = { board_id: NIL_ID, id: NIL_ID }
  await inBatches(async () => {
    const found = await db.run(listSecrets, last)
    for (const { board_id, id, secret, old_secret } of found) {
      last = { board_id, id }
      if ([secret, old_secret].every((each) => each === null || box.isCurrent(each))) continue
      const boxes = closedAgain(box, secretContext(id), { secret, old_secret })
      if (boxes) await db.run(replaceSecrets, { ...last, ...boxes, read_secret: secret })
      if (boxes) changed++
      else lost.push(id)
    }
    return found
  }, BATCH_ROWS)
  return { changed, lost }
}

/** Undefined if neither key decrypts them. */
function closedAgain(box: SecretBox, context: string, { secret, old_secret }: Pick<Secrets, 'secret' | 'old_secret'>) {
  const close = (each: Buffer) => box.close(box.open(each, context), context)
  try {
    return { secret: close(secret), old_secret: old_secret && close(old_secret) }
  } catch {
    return undefined
  }
}
