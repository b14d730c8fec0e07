import type { Random } from '@lockstep/testing/random'
import type { Verdict } from './judge.ts'
import type { World } from './known-resources.ts'
import type { FuzzRequest } from './requests.ts'

/** What an answer tells of the world: what there is now, and what is no more. */
export function learn(
  world: World,
  request: FuzzRequest,
  { met, json }: Verdict,
  tag: string | undefined,
  random: Random,
) {
  const { operation, params, who, body, board, tricks, method } = request
  if (tag && random.below(4) === 0) world.remember('tags', tag)
  if (method !== operation.method || tricks.has('path')) return
  const [, verb, kind = ''] = /^(create|delete)(\w+)$/.exec(operation.id.toLowerCase()) ?? []
  const parameter = `${kind}_id`
  if (operation.id === 'createBoard' && met === '201' && who) world.addBoard(String(json?.['id']), who)
  else if (operation.id === 'deleteBoard' && met === '204') world.forget(params['board_id'] ?? '')
  else if (operation.id === 'changePassword' && met === '200' && who && body)
    // With a mark of its byte order at the beginning it counts too.
    who.password = (JSON.parse(body.toString().replace(/^\uFEFF/, '')) as { new_password: string }).new_password
  if (!board) return
  const missing = /^404 (\w+)_not_found$/.exec(met)?.[1]
  if (verb === 'create' && met === '201') world.add(board, parameter, String(json?.['id']))
  else if (verb === 'delete' && met === '204') world.lose(board, parameter, params[parameter] ?? '', random)
  else if (missing) world.lose(board, `${missing}_id`, params[`${missing}_id`] ?? '', random)
  else if (operation.id === 'inviteMember' && met === '201') world.seat(board, json?.['user_id'], true)
  else if (operation.id === 'removeMember' && met === '204') world.seat(board, params['user_id'], false)
}
