import { type Command, textOption } from './command.ts'
import { wrongUsage } from './failure.ts'
import { findBoard } from './find.ts'

export const invite: Command = {
  summary: 'create an invitation link to a board',
  usage: '<board> [--role owner] [--email <address>]',
  options: { role: { type: 'string' }, email: { type: 'string' } },
  help: `  --role <role>       member (default) or owner
  --email <address>   only an account with this address can use the link

  Prints a link with which one person joins the board, within 7 days, with or without an account. It is not shown again.`,
  async run(context) {
    const [boardName = ''] = context.args
    const role = textOption(context, 'role') ?? 'member'
    if (role !== 'member' && role !== 'owner') throw wrongUsage('--role is member or owner; see lockstep help invite.')
    const client = context.client()
    const { id: board_id } = await findBoard(client, boardName)
    const email = textOption(context, 'email') ?? null
    const invitation = await client.createInvitation({ board_id, role, email })
    const link = new URL(invitation.link, client.baseUrl).href
    context.print({ ...invitation, link }, link)
  },
}
