import { TestClock } from '@lockstep/testing/test-clock'
import { expect, test } from 'vitest'
import { PresenceBroadcaster } from './presence-broadcaster.ts'

/** A board with connections that record what they are sent. */
function boardWith(...users: string[]) {
  const connections = users.map((user_id) => ({
    id: `of ${user_id}`,
    user_id,
    sent: '',
    send(bytes: Buffer) {
      this.sent += bytes.toString()
    },
  }))
  const clock = new TestClock()
  const broadcaster = new PresenceBroadcaster({
    after: clock.after,
    recipientsOf: () => new Set(connections),
  })
  const change = (user_id: string, hasLeft: boolean) =>
    broadcaster.broadcast('board', {
      bytes: Buffer.from(`${hasLeft ? '-' : '+'}${user_id} `),
      user_id,
      hasLeft,
      connection: hasLeft ? '' : `of ${user_id}`,
    })
  return { clock, change, sent: () => Object.fromEntries(connections.map(({ user_id, sent }) => [user_id, sent])) }
}

test('[PRES-7] a connection is sent neither user_left of its own user nor what preceded its own user_joined', () => {
  const { clock, change, sent } = boardWith('ada', 'grace', 'lin')
  change('grace', true)
  change('omar', true)
  change('lin', true)
  change('grace', false)
  change('omar', false)
  clock.advance(500)
  expect(sent()).toEqual({
    ada: '-grace -omar -lin +grace +omar ',
    // Connected again, and this broadcast has its join.
    grace: '+omar ',
    // Connected again, and its join will follow.
    lin: '-grace -omar +grace +omar ',
  })
})
