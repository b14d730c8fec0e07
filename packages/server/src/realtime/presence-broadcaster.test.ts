import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { PresenceBroadcaster } from './presence-broadcaster.ts'

/** A board with connections that record what they are sent. Changes wait half a second, as while many connections end. */
function boardWith(...users: string[]) {
  const connections = users.map((user_id) => ({
    id: `of ${user_id}`,
    user_id,
    sent: '',
    send(bytes: Buffer) {
      this.sent += bytes.toString()
    },
  }))
  const broadcaster = new PresenceBroadcaster({
    recipientsOf: () => new Set(connections),
    areManyEnding: () => true,
    random: () => 0,
  })
  const change = (user_id: string, hasLeft: boolean) =>
    broadcaster.broadcast('board', {
      bytes: Buffer.from(`${hasLeft ? '-' : '+'}${user_id} `),
      user_id,
      hasLeft,
      connection: hasLeft ? '' : `of ${user_id}`,
    })
  return { change, sent: () => Object.fromEntries(connections.map(({ user_id, sent }) => [user_id, sent])) }
}

test('[PRES-7] a connection is sent neither user_left of its own user nor what preceded its own user_joined', async () => {
  const { change, sent } = boardWith('ada', 'grace', 'lin')
  change('grace', true)
  change('omar', true)
  change('lin', true)
  change('grace', false)
  change('omar', false)
  await pause(600)
  expect(sent()).toEqual({
    ada: '-grace -omar -lin +grace +omar ',
    // Connected again, and this broadcast has its join.
    grace: '+omar ',
    // Connected again, and its join will follow.
    lin: '-grace -omar +grace +omar ',
  })
})

test('[SOCK-13] presence messages wait while many connections end', async () => {
  const { change, sent } = boardWith('ada')
  change('omar', true)
  await pause(100)
  expect(sent()).toEqual({ ada: '' })
  await pause(500)
  expect(sent()).toEqual({ ada: '-omar ' })
})
