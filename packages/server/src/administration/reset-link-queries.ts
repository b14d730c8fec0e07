import { sql } from 'kysely'
import { type Db, statement, wireTime } from '../database/database.ts'

const LIFETIME_HOURS = 24

interface NewResetLink {
  user_id: string
  token_hash: string
  /** The superuser who made it; null for the command line. */
  created_by: string | null
}
const upsert = statement(
  'upsert_reset_link',
  (args: NewResetLink) => sql<{ expires_at: string }>`
    insert into password_reset_links as link (user_id, token_hash, created_by, expires_at)
    values (${args.user_id}, ${args.token_hash}, ${args.created_by}, clock_timestamp() + make_interval(hours => ${sql.lit(LIFETIME_HOURS)}))
    on conflict (user_id) do update set token_hash = excluded.token_hash, created_by = excluded.created_by, created_at = excluded.created_at, expires_at = excluded.expires_at
    returning ${wireTime(sql`link.expires_at`)} as expires_at`,
)
/** Stores a reset link, in place of an earlier one. Returns when it expires. */
export const storeResetLink = async (tx: Db, link: NewResetLink) =>
  ((await tx.run(upsert, link))[0] as { expires_at: string }).expires_at

/** A link of a superuser ends when that user is deactivated or is not a superuser anymore. */
export const isCreatorAllowed = sql`(link.created_by is null or exists (
      select from users creator where creator.id = link.created_by and creator.is_active and creator.is_superuser))`

const read = statement(
  'read_reset_link',
  (args: { token_hash: string }) => sql<{ user_id: string; email: string; username: string }>`
    select person.id as user_id, person.email, person.username
    from password_reset_links link join users person on person.id = link.user_id
    where link.token_hash = ${args.token_hash} and link.expires_at > clock_timestamp() and person.is_active and ${isCreatorAllowed}`,
)
/** The account of a valid reset link. */
export const readResetLink = async (db: Db, token_hash: string) => (await db.run(read, { token_hash }))[0]
