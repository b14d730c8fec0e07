import type { FullBoard } from '@lockstep/client'
import type { BoardState } from '@lockstep/client/react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { Link } from 'wouter'
import { openPalette } from '../palette/overlay.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { late } from '../ui/late.tsx'
import { Menu } from '../ui/menu.tsx'
import { Heading, Mark } from '../ui/page.tsx'
import { Avatars } from '../ui/people.tsx'
import { useTools } from './board-tools.ts'
import { LivePill } from './connection.tsx'
import type { Told } from './connection-story.ts'
import { NameField } from './name-field.tsx'

const DeleteBoardDialog = late(async () => (await import('./delete-board-dialog.tsx')).DeleteBoardDialog)

/** What board this is, whether it is live, who is here, and what concerns the whole board. */
export function BoardHead({ view, state, told }: { view: FullBoard; state: BoardState; told: Told }) {
  const tools = useTools()
  const [isRenamed, setRenamed] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const go = (panel: string) => tools.navigate(`/b/${view.id}/${panel}`)
  // Offline, nobody says who is still there.
  const others = told.kind === 'offline' ? [] : tools.presence.filter(({ user_id }) => user_id !== tools.me.id)
  const people = others.map(({ user_id, username }) => tools.member(user_id) ?? { id: user_id, username })
  return (
    <header className="top board-head">
      <Link href="/boards" className="board-home" aria-label="All boards">
        <Mark />
      </Link>
      <nav className="crumb" aria-label="Breadcrumb">
        <Link href="/boards">Boards</Link> <span aria-hidden="true">/</span>
      </nav>
      {isRenamed ? (
        <NameField
          label="Title of the board"
          value={view.title}
          onSave={(title) => tools.change('updateBoard', { title })}
          onDone={() => setRenamed(false)}
          onKey={() => {
            flushSync(() => setRenamed(false))
            document.querySelector<HTMLElement>('.board-head h1')?.focus()
          }}
        />
      ) : (
        <Heading title={view.title} />
      )}
      <LivePill told={told} />
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
          ...(tools.is_owner
            ? [{ label: 'Rename the board', icon: 'edit' as const, onSelect: () => setRenamed(true) }]
            : []),
          { label: 'Members', icon: 'users', onSelect: () => go('members') },
          { label: 'Automation', icon: 'bolt', onSelect: () => go('automations') },
          { label: 'Activity', icon: 'clock', onSelect: () => go('activity') },
          { label: 'Command palette', icon: 'search', keys: 'Ctrl K', onSelect: openPalette },
          undefined,
          { label: 'Undo', icon: 'undo', keys: 'Ctrl Z', is_disabled: !state.canUndo, onSelect: () => tools.undo() },
          { label: 'Redo', icon: 'redo', keys: 'Ctrl ⇧ Z', is_disabled: !state.canRedo, onSelect: () => tools.redo() },
          ...(tools.is_owner
            ? [
                undefined,
                {
                  label: 'Delete the board…',
                  icon: 'trash' as const,
                  is_danger: true,
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
