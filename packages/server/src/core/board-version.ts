import { sql } from 'kysely'

/** The version of a full board: its position, and its members' profiles, which change without an event. */
export interface BoardVersion {
  position: string
  profiles: string
  /** Its text size as counted for the quotas; null or missing when it was not counted. */
  text_bytes?: number | null
}

/**
 * A hash of the members' profiles, for the row `stream` of the table `board_stream`. It covers all change times and not only the
 * latest: a change can be committed after one with a later time.
 */
export const profilesOfBoard = sql<string>`(
  select left(md5(string_agg(person.profile_changed_at::text, ',' order by person.id)), 16)
  from board_members membership join users person on person.id = membership.user_id
  where membership.board_id = stream.board_id)`
