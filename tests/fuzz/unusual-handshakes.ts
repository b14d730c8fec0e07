import type { Random } from '@lockstep/testing/random'
import { type Handshake, handshakeTo } from './frame-session.ts'
import { CANARY } from './values.ts'

interface OddHandshake extends Handshake {
  /** It must be rejected. */
  isBad: boolean
}

/** Invalid or unusual handshakes. */
export function unusualHandshake(target: string, board_id: string, random: Random): OddHandshake {
  const good = handshakeTo(target)
  const without = (name: string) => good.headers.filter(([key]) => key !== name)
  const withHeader = (name: string, value: string) => ({ ...good, headers: [...without(name), [name, value] as const] })
  const to = (other: string) => ({ ...good, target: other })
  const token = new URL(target, 'http://x').searchParams.get('token') ?? ''
  const bad: (() => Handshake)[] = [
    () => withHeader('Sec-WebSocket-Version', random.pick(['12', '99', '', 'x', '13, 8'])),
    () => withHeader('Sec-WebSocket-Key', random.pick(['', 'x', CANARY, 'AAAAAAAAAAAAAAAAAAAAAA==x', 'ü'])),
    () => withHeader('Sec-WebSocket-Protocol', random.pick(['a, a', ',', ''])),
    () => ({ ...good, headers: without(random.pick(['Sec-WebSocket-Key', 'Sec-WebSocket-Version'])) }),
    () => ({ ...good, method: random.pick(['POST', 'PUT', 'DELETE', 'HEAD']) }),
    () => to(target.replace(token, random.pick(['', CANARY, token.slice(0, -3), '%00', '..']))),
    () => {
      const nowhere = ['x', '%00', '%zz', '..', '00000000-0000-4000-8000-000000000000', `${board_id}/x`, CANARY]
      return to(target.replace(board_id, random.pick(nowhere)))
    },
    () => to(random.pick(['*', '//', target.split('?')[0] as string, '/ws/boards/', '/ws', 'http://x/ws'])),
  ]
  const strange: (() => Handshake)[] = [
    () => ({ ...good, headers: without('Host') }),
    () => withHeader('Sec-WebSocket-Protocol', random.pick(['x', `${CANARY}, b`, 'a'.repeat(500)])),
    () =>
      withHeader(
        'Sec-WebSocket-Extensions',
        random.pick([
          'permessage-deflate',
          'permessage-deflate; x=y',
          ';',
          'permessage-deflate; server_max_window_bits=99',
          '"',
          CANARY,
        ]),
      ),
    // Which origins are foreign is for the operator to say.
    () => withHeader('Origin', random.pick(['null', 'https://evil.example', '', CANARY])),
    () => to(target.replace(token, token.replaceAll('.', '%2e'))),
    () => to(target.replace(board_id, board_id.toUpperCase())),
    () => to(`${target}&token=x&seq=${CANARY}&since=${random.pick(['-1', '1.-1', '9'.repeat(30), '1.1e9', '%00'])}`),
    () => to(random.pick([`//evil.example${target}`, `/api${target}`])),
    () => withHeader('Upgrade', random.pick(['WebSocket', 'websocket, h2c', 'WEBSOCKET'])),
    () => withHeader('X-Long', 'x'.repeat(random.pick([1_000, 20_000]))),
    () => withHeader('Transfer-Encoding', 'chunked'),
    () => withHeader('Content-Length', '5'),
  ]
  const isBad = random.below(2) === 0
  return { ...random.pick(isBad ? bad : strange)(), isBad: isBad }
}
