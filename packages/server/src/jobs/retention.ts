import { sql } from 'kysely'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'

const deleteEvents = statement(
  'delete_expired_events',
  (args: { days: number }) => sql<{ seq: number }>`
    delete from board_events where ctid in (
      select ctid from board_events where created_at < now() - make_interval(days => ${args.days}) order by created_at limit ${sql.lit(BATCH_ROWS)})
    returning seq`,
)
/** Deletes events older than their retention. Returns how many. */
export const deleteExpiredEvents = (db: Db, days: number): Promise<number> =>
  inBatches(() => db.run(deleteEvents, { days }))

const deleteResponses = statement(
  'delete_expired_responses',
  () => sql<{ user_id: string }>`
    delete from stored_responses where ctid = any (array(
      select ctid from stored_responses where created_at <= now() - interval '24 hours'
      order by created_at limit ${sql.lit(BATCH_ROWS)} for update skip locked))
    returning user_id`,
)
/** Deletes stored responses older than a day. A user's next write deletes theirs too; this is for users who do not return. */
export const deleteExpiredResponses = (db: Db): Promise<number> => inBatches(() => db.run(deleteResponses, {}))

const deleteInvitations = statement(
  'delete_expired_invitations',
  () => sql<{ id: string }>`
    delete from invitations where ctid in (
      select ctid from invitations where expires_at <= now() limit ${sql.lit(BATCH_ROWS)} for update skip locked)
    returning id`,
)
const deleteResetLinks = statement(
  'delete_expired_reset_links',
  () => sql<{ user_id: string }>`
    delete from password_reset_links where ctid in (
      select ctid from password_reset_links where expires_at <= now() limit ${sql.lit(BATCH_ROWS)} for update skip locked)
    returning user_id`,
)
/** Deletes invitations and reset links that have expired. */
export const deleteExpiredLinks = async (db: Db): Promise<number> =>
  (await inBatches(() => db.run(deleteInvitations, {}))) + (await inBatches(() => db.run(deleteResetLinks, {})))
