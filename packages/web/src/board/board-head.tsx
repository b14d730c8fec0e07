import type { FullBoard } from '@lockstep/client'
import type { BoardState } from '@lockstep/client/react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { Link } from 'wouter'
import { useTools } from '../board-state/board-tools.ts'
import { openPalette } from '../board-state/overlay.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { Menu } from '../ui/menu.tsx'
import { Heading, Mark } from '../ui/page.tsx'
import { Avatars } from '../ui/people.tsx'
import { ConnectionPill } from './connection-banner.tsx'
import type { ConnectionStatus } from './connection-status.ts'
import { NameField } from './name-field.tsx'

const DeleteBoardDialog = lazyComponent(async () => (await import('./delete-board-dialog.tsx')).DeleteBoardDialog)

interface BoardHeadProps {
  view: FullBoard
  state: BoardState
  connection: ConnectionStatus
}

/** The header of a board: name, connection status, other users, and the board menu. */
export function BoardHead({ view, state, connection }: BoardHeadProps) {
  const tools = useTools()
  const [isRenaming, setRenaming] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const go = (panel: string) => tools.navigate(`/b/${view.id}/${panel}`)
  // While offline it is unknown who is connected.
  const others = connection.kind === 'offline' ? [] : tools.presence.filter(({ user_id }) => user_id !== tools.me.id)
  const people = others.map(({ user_id, username }) => tools.member(user_id) ?? { id: user_id, username })
  return (
    <header className="top board-head">
      <Link href="/boards" className="board-home" aria-label="All boards">
        <Mark />
      </Link>
      <nav className="crumb" aria-label="Breadcrumb">
        <Link href="/boards">Boards</Link> <span aria-hidden="true">/</span>
      </nav>
      {isRenaming ? (
        <NameField
          label="Board name"
          value={view.title}
          onSave={(title) => tools.change('updateBoard', { title })}
          onDone={() => setRenaming(false)}
          onKey={() => {
            flushSync(() => setRenaming(false))
            document.querySelector<HTMLElement>('.board-head h1')?.focus()
          }}
        />
      ) : (
        <Heading title={view.title} />
      )}
      <ConnectionPill connection={connection} />
      <span className="spacer" />
      <Avatars people={people} label="Also here" />
      <button type="button" className="button board-share" onClick={() => go('members')}>
        <Icon name="users" /> Share
      </button>
      <button type="button" className="button is-primary" onClick={() => tools.composeAnywhere()}>
        New card <Keys keys="N" />
      </button>
      <Menu
        label="Board menu"
        items={[
          ...(tools.isOwner
            ? [{ label: 'Rename board', icon: 'edit' as const, onSelect: () => setRenaming(true) }]
            : []),
          { label: 'Members', icon: 'users', onSelect: () => go('members') },
          { label: 'Automation', icon: 'bolt', onSelect: () => go('automations') },
          { label: 'Activity', icon: 'clock', onSelect: () => go('activity') },
          { label: 'Command palette', icon: 'search', keys: 'Ctrl K', onSelect: openPalette },
          undefined,
          { label: 'Undo', icon: 'undo', keys: 'Ctrl Z', isDisabled: !state.canUndo, onSelect: () => tools.undo() },
          { label: 'Redo', icon: 'redo', keys: 'Ctrl ⇧ Z', isDisabled: !state.canRedo, onSelect: () => tools.redo() },
          ...(tools.isOwner
            ? [
                undefined,
                {
                  label: 'Delete board…',
                  icon: 'trash' as const,
                  isDanger: true,
                  onSelect: () => setDeleting(true),
                },
              ]
            : []),
        ]}
      >
        <Icon name="more" />
      </Menu>
      <AccountMenu />
      {isDeleting && <DeleteBoardDialog view={view} onClose={() => setDeleting(false)} />}
    </header>
  )
}
