import { sql } from 'kysely'

/** The state that a full board shows. Its members' profiles change without an event, so they count beside its position. */
export interface BoardVersion {
  position: string
  profiles: string
  /** About how large it is, as the quotas count it; null or missing when it was not counted. */
  text_bytes?: number | null
}

/**
 * The profiles of the members of the board in the table `board_stream` under the name `stream`. All of them and not the
 * newest: a change can be committed after one that is younger.
 */
export const profilesOfBoard = sql<string>`(
  select left(md5(string_agg(person.profile_changed_at::text, ',' order by person.id)), 16)
  from board_members membership join users person on person.id = membership.user_id
  where membership.board_id = stream.board_id)`
