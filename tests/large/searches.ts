import type { Client } from '@lockstep/testing/client'
import type pg from 'pg'

export interface Search {
  search: string
  names?: 'true'
}
/** The kinds of people search. Terms come from accounts spread over the whole table. */
export async function searchesOf(sql: pg.Pool, each: number): Promise<Record<string, Search[]>> {
  const { rows } = await sql.query<{ username_key: string; email: string; firstname: string; lastname: string }>(
    `select username_key, email, firstname, lastname from users
     where is_active and lastname is not null and username_key not like 'zentrale%' order by md5(id::text) limit $1`,
    [each],
  )
  const of = (term: (person: (typeof rows)[number]) => string) => rows.map((person) => ({ search: term(person) }))
  const terms = (...list: string[]) => rows.map((_, i) => ({ search: list[i % list.length] as string }))
  const withNames = (searches: Search[]) => searches.map((search) => ({ ...search, names: 'true' as const }))
  return {
    'start of a username': of(({ username_key }) => username_key.slice(0, 4)),
    'part of a username': of(({ username_key }) => username_key.slice(2, 7)),
    'whole username': of(({ username_key }) => username_key),
    'frequent letters': terms('ann', 'mar', 'er', 'en', 'a', 'sen', 'e'),
    'rare letters': terms('quen', 'xen', 'q', 'yus', '99', 'x'),
    'two letters that match nothing': terms('qx', 'xq', 'jq', 'ж', 'щю', '@@'),
    'a term that matches nothing': terms('no such person', 'annaannaanna', 'berberberber', 'мюллер', '...', '_._'),
    'letters and punctuation': terms('a.m', '.k', 'm_', 'j.s', 'n.n', '-1', '.'),
    'whole e-mail address': of(({ email }) => email),
    'part of e-mail addresses': terms('@example', 'example.com', '@mail7', 'n@', '.test', 'a.b'),
    'first name': withNames(of(({ firstname }) => firstname)),
    'last name': withNames(of(({ lastname }) => lastname)),
    'first and last name': withNames(of(({ firstname, lastname }) => `${firstname} ${lastname}`)),
    'part of a name': withNames(of(({ lastname }) => lastname.slice(1, 4))),
    'two letters of a name': withNames(terms('mi', 'zo', 'qx', 'ö', 'um', 'wi')),
    'many that come last in the order': terms('entrale', 'zentrale', 'trale-', 'e-1'),
  }
}

/** Who must be found, by reading every account. */
export async function expectedUsernames(sql: pg.Pool, callerId: string, { search, names }: Search, isOpen: boolean) {
  const { rows } = await sql.query<{ username: string }>(
    `select username from users person
     where is_active and (username_key like $1 or email_key = $2
       or (email_key like $1 and ($3 or id in (select theirs.user_id from board_members mine
         join board_members theirs on theirs.board_id = mine.board_id where mine.user_id = $4)))
       or ($5 and name_key like $1))
     order by username_key`,
    [
      `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`,
      search.toLowerCase(),
      isOpen,
      callerId,
      names === 'true',
    ],
  )
  return rows.map(({ username }) => username)
}

export const find = async (api: Client, query: Search) =>
  (await api.call('findUsers', { query })).map(({ username }) => username)
