import type { Random } from '@lockstep/testing/random'
import type { ResponseCheck } from './check-response.ts'
import type { KnownResources } from './known-resources.ts'
import type { FuzzRequest } from './requests.ts'

/** Records created and deleted resources from a response. */
export function recordResponse(
  known: KnownResources,
  request: FuzzRequest,
  { outcome, json }: ResponseCheck,
  tag: string | undefined,
  random: Random,
) {
  const { operation, params, who, body, board, mutations, method } = request
  if (tag && random.below(4) === 0) known.remember('tags', tag)
  if (method !== operation.method || mutations.has('path')) return
  const [, verb, kind = ''] = /^(create|delete|revoke|archive)(\w+)$/.exec(operation.id.toLowerCase()) ?? []
  const parameter = `${kind}_id`
  if (operation.id === 'createBoard' && outcome === '201' && who) known.addBoard(String(json?.['id']), who)
  else if (operation.id === 'deleteBoard' && outcome === '204') known.forget(params['board_id'] ?? '')
  else if (operation.id === 'changePassword' && outcome === '200' && who && body)
    // The body may start with a byte order mark.
    who.password = (JSON.parse(body.toString().replace(/^\uFEFF/, '')) as { new_password: string }).new_password
  if (!board) return
  const missing = /^404 (\w+)_not_found$/.exec(outcome)?.[1]
  if (verb === 'create' && outcome === '201') known.add(board, parameter, String(json?.['id']))
  else if (verb && /^20[04]$/.test(outcome)) {
    const id = params[parameter] ?? ''
    known.remove(board, parameter, id, random)
    if (kind === 'card' || kind === 'column') known.add(board, 'removed_id', id)
  } else if (operation.id.endsWith('Removed') && /^20[04]$/.test(outcome) && method !== 'GET') {
    const { card, column } = (json ?? {}) as { card?: { id: string }; column?: { id: string } }
    known.remove(board, 'removed_id', params['removed_id'] ?? '', random)
    if (card) known.add(board, 'card_id', card.id)
    if (column) known.add(board, 'column_id', column.id)
  } else if (missing) known.remove(board, `${missing}_id`, params[`${missing}_id`] ?? '', random)
  else if (operation.id === 'inviteMember' && outcome === '201') known.setMembership(board, json?.['user_id'], true)
  else if (operation.id === 'removeMember' && outcome === '204') known.setMembership(board, params['user_id'], false)
}
