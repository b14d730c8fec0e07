import type { User } from '@lockstep/client'
import { describe, expect, test } from 'vitest'
import { mentionName, mentionQuery, shownText, storedText } from './mentions.ts'

const ada = '01890000-0000-7000-8000-00000000000a'
const grace = '01890000-0000-7000-8000-00000000000b'
const user = (id: string, firstname: string | null, lastname: string | null, username = 'someone'): User => ({
  id,
  email: `${id}@example.com`,
  username,
  firstname,
  lastname,
  is_active: true,
  is_verified: true,
  is_superuser: false,
})

describe('mentions in the field', () => {
  test('[WEB-181] a chosen name is stored as a token, and shown as a name again', () => {
    const people = new Map([
      ['Ada', ada],
      ['Ada (King) + 1', grace],
    ])
    const text = 'Hi @Ada (King) + 1 and @Ada, not @Adam Smith@example.com'
    const stored = storedText({ text, people })
    expect(stored).toContain(`Hi @[Ada (King) + 1](user:${grace}) and @[Ada](user:${ada}), not`)
    expect(shownText(stored).text).toBe(text)
    expect(storedText(shownText(stored))).toBe(stored)
  })
  test('[WEB-181] two people with one name are not confused', () => {
    const stored = `@[Ada](user:${ada}) @[Ada](user:${grace})`
    expect(storedText(shownText(stored))).toBe(stored)
  })
  test('[WEB-181] a name cannot break its token', () => {
    expect(mentionName(user(ada, 'A]da\n', '[x](y)'), [])).toBe('A da x (y)')
    expect(mentionName(user(ada, '[]', null, 'ada'), [])).toBe('ada')
    expect(mentionName(user(ada, 'x'.repeat(300), null), [])).toHaveLength(255)
    const both = [user(ada, 'Ada', null, 'ada'), user(grace, 'Ada', null, 'king')]
    expect(both.map((each) => mentionName(each, both))).toEqual(['Ada (ada)', 'Ada (king)'])
  })
  test('[WEB-181] an @ after a word is an address', () => {
    expect(mentionQuery('Hi @', 4)).toEqual({ at: 3, query: '' })
    expect(mentionQuery('(@Ada Lo', 8)).toEqual({ at: 1, query: 'Ada Lo' })
    for (const text of ['ada@example', 'Hi @ you', 'Hi @Ada\nyou', 'none']) {
      expect(mentionQuery(text, text.length)).toBeUndefined()
    }
  })
})
