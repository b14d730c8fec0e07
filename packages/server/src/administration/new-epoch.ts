import { sql } from 'kysely'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Database, statement } from '../database/database.ts'
import { type Actor, record } from './admin-steps.ts'

const nextEpoch = statement(
  'next_epoch',
  () => sql<{ epoch: number }>`
    select greatest(max(epoch) + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer) as epoch from board_stream`,
)
const setEpochs = statement(
  'set_epochs',
  (args: { epoch: number; after: string }) => sql<{ board_id: string }>`
    with batch as (
      select board_id from board_stream where board_id > ${args.after} order by board_id limit ${sql.lit(BATCH_ROWS)}
    ), updated as (
      update board_stream stream set epoch = ${args.epoch} from batch where stream.board_id = batch.board_id
    )
    select board_id from batch order by board_id desc`,
)
const NIL_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Starts a new epoch after a restore, because sequence numbers will be used a second time: every client learns that its
 * position is no longer valid. The epoch is made from the time, so that two restores of one backup never share one. New
 * boards start with it too, because a lost board may be created again under its old id. Recorded before anything is changed.
 * Returns how many boards changed.
 */
export async function startNewEpoch(db: Database, actor: Actor): Promise<number> {
  const [next] = await db.run(nextEpoch, {})
  const epoch = Number(next?.epoch)
  await record(db, actor, 'new-epoch', null, { epoch })
  await db.pool.query(`alter table board_stream alter column epoch set default ${epoch}`)
  let after = NIL_ID
  return inBatches(async () => {
    const changed = await db.run(setEpochs, { epoch, after })
    after = changed[0]?.board_id ?? after
    return changed
  })
}
