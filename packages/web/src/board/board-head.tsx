import type { FullBoard } from '@lockstep/client'
import type { BoardState } from '@lockstep/client/react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { Link } from 'wouter'
import { Bell } from '../bell/bell.tsx'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { openPalette } from '../board-state/overlay.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { Icon } from '../ui/icon.tsx'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { Menu } from '../ui/menu.tsx'
import type { MenuEntry } from '../ui/menu-types.ts'
import { Heading, Mark } from '../ui/page.tsx'
import { ConnectionPill } from './connection-banner.tsx'
import type { ConnectionStatus } from './connection-status.ts'
import { FacePile } from './face-pile.tsx'
import { FilterBar } from './filter-bar.tsx'
import { t } from './messages.ts'
import { NameField } from './name-field.tsx'
import { useNewCardColumn } from './use-new-card-column.ts'

const DeleteBoardDialog = lazyComponent(async () => (await import('./delete-board-dialog.tsx')).DeleteBoardDialog)
const BoardDescription = lazyComponent(async () => (await import('./board-description.tsx')).BoardDescription)

interface BoardHeadProps {
  view: FullBoard
  state: BoardState
  connection: ConnectionStatus
  /** The text of the filter. */
  text: string
}

/** The header of a board: name, connection problems, members, filter, and the board menu. */
export function BoardHead({ view, state, connection, text }: BoardHeadProps) {
  const tools = useTools()
  const [isRenaming, setRenaming] = useState(false)
  const [open, setOpen] = useState<'delete' | 'description'>()
  const go = (panel: string) => tools.navigate(`/b/${view.id}/${panel}`)
  const close = () => setOpen(undefined)
  const { isOwner } = useShownBoard()
  const isReadOnly = useReadOnly()
  const newCardColumn = useNewCardColumn(tools, view)
  const newCardLabel = newCardColumn ? t.newCardIn({ column: newCardColumn.title }) : t.newCard
  const ownerEdits: MenuEntry[] = [
    { label: t.renameBoard, icon: 'edit', onSelect: () => setRenaming(true) },
    { label: t.editDescription, icon: 'text', onSelect: () => setOpen('description') },
  ]
  const reversals: MenuEntry[] = [
    undefined,
    { label: t.undo, icon: 'undo', keys: 'Ctrl Z', isDisabled: !state.canUndo, onSelect: () => tools.undo() },
    { label: t.redo, icon: 'redo', keys: 'Ctrl ⇧ Z', isDisabled: !state.canRedo, onSelect: () => tools.redo() },
  ]
  const ownerEnd: MenuEntry[] = [
    undefined,
    {
      label: isReadOnly ? t.restoreBoard : t.archiveBoard,
      icon: isReadOnly ? 'undo' : 'archive',
      onSelect: () => tools.setArchived(!isReadOnly),
    },
    { label: t.deleteBoardItem, icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
  ]
  return (
    <header className="top board-head">
      <Link href="/boards" className="board-home" aria-label={t.allBoards} title={t.allBoards}>
        <Mark />
      </Link>
      {isRenaming && !isReadOnly ? (
        <NameField
          label={t.boardName}
          value={view.title}
          onSave={(title) => tools.change('updateBoard', { title })}
          onDone={() => setRenaming(false)}
          onKey={() => {
            flushSync(() => setRenaming(false))
            document.querySelector<HTMLElement>('.board-head h1')?.focus()
          }}
        />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the menu renames by keyboard
        <div
          className="board-title"
          title={view.description ?? view.title}
          onDoubleClick={() => isOwner && tools.canChange() && setRenaming(true)}
        >
          <Heading title={view.title} />
        </div>
      )}
      <FacePile view={view} onOpen={() => go('members')} />
      <ConnectionPill connection={connection} />
      <span className="spacer" />
      <FilterBar view={view} text={text} />
      <button type="button" className="button board-share" onClick={() => go('members')}>
        <Icon name="users" /> {t.share}
      </button>
      {!isReadOnly && (
        <button
          type="button"
          className="button is-primary board-new"
          aria-keyshortcuts="n"
          aria-label={newCardLabel}
          title={newCardLabel}
          // The focused card keeps the focus, so that its column remains the one of the label.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => tools.composeAnywhere()}
        >
          <Icon name="plus" /> {t.newCard}
        </button>
      )}
      <Menu
        label={t.boardMenu}
        items={[
          ...(isOwner && !isReadOnly ? ownerEdits : []),
          { label: t.members, icon: 'users', onSelect: () => go('members') },
          { label: t.automation, icon: 'bolt', onSelect: () => go('automations') },
          ...(isOwner ? [{ label: t.webhooks, icon: 'send' as const, onSelect: () => go('webhooks') }] : []),
          { label: t.activity, icon: 'clock', onSelect: () => go('activity') },
          { label: t.removed, icon: 'archive', onSelect: () => go('removed') },
          { label: t.commandPalette, icon: 'search', keys: 'Ctrl K', onSelect: openPalette },
          ...(isReadOnly ? [] : reversals),
          ...(isOwner ? ownerEnd : []),
        ]}
      >
        <Icon name="more" />
      </Menu>
      <Bell />
      <AccountMenu />
      {open === 'delete' && <DeleteBoardDialog view={view} onClose={close} />}
      {open === 'description' && !isReadOnly && <BoardDescription view={view} onClose={close} />}
    </header>
  )
}
