import type { Role } from '@lockstep/contract/operation'
import type { Generated } from 'kysely'

/** The tables as `migrations/` leaves them; a check compares the two. */
export interface Tables {
  users: {
    id: string
    email: string
    email_key: string
    username: string
    username_key: string
    hashed_password: string
    firstname: string | null
    lastname: string | null
    is_active: Generated<boolean>
    is_verified: Generated<boolean>
    is_superuser: Generated<boolean>
    tokens_valid_from: string | null
    surviving_token_hash: string | null
    profile_changed_at: Generated<string>
    created_at: Generated<string>
  }
  board_stream: { board_id: string; epoch: Generated<number>; last_seq: Generated<number> }
  board_events: {
    board_id: string
    seq: number
    created_at: string
    type: string
    user_id: string | null
    subject_id: string | null
    from_id: string | null
    cause_seq: number | null
    body: string
  }
  boards: {
    id: string
    title: string
    description: string | null
    created_by: string
    updated_by: string
    created_at: Generated<string>
  }
  board_members: { board_id: string; user_id: string; role: Role; joined_at: Generated<string> }
  columns: {
    board_id: string
    id: string
    title: string
    color: string
    is_done_column: boolean
    rank: number
  }
  cards: {
    board_id: string
    id: string
    column_id: string
    title: string
    description: string | null
    rank: number
    created_at: string
    updated_at: string
  }
  card_assignees: { board_id: string; card_id: string; user_id: string; assigned_at: Generated<string> }
  stored_answers: {
    user_id: string
    key: string
    board_id: string | null
    fingerprint: string
    status: number
    body: string | null
    position: string | null
    created_at: Generated<string>
  }
}
