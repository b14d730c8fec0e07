import { Link } from 'wouter'
import type { ShownBoard } from '../board-state/offline-boards.ts'
import { me } from '../session.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatars, nameOf, tinted } from '../ui/people.tsx'
import { boardColor } from './board-color.ts'
import { t } from './messages.ts'
import { relativeTime } from './relative-time.ts'

interface BoardTileProps {
  readonly board: ShownBoard
  /** The time to which relative times refer. */
  readonly now: number
  /** The server cannot be reached, and the board is not saved in the browser. */
  readonly isUnavailable: boolean
  /** While boards are being selected: whether this one is. */
  readonly isSelected: boolean | undefined
  /** Archives the board, or restores it. */
  readonly onArchive: () => void
  readonly onSelect: (isSelected: boolean) => void
}

/** A board in the list: a link, or while boards are being selected, a check box. */
export function BoardTile({ board, now, isUnavailable, isSelected, onArchive, onSelect }: BoardTileProps) {
  const { id, title } = board
  const isArchived = board.archived_at != null
  if (isSelected !== undefined)
    return (
      <label className={isSelected ? 'tile is-selected' : 'tile'} style={tinted(boardColor(id))}>
        <input
          type="checkbox"
          aria-label={title}
          checked={isSelected}
          onChange={(event) => onSelect(event.target.checked)}
        />
        <TileContent board={board} now={now} isUnavailable={isUnavailable} />
      </label>
    )
  return (
    <>
      <Link href={`/b/${id}`} className={isUnavailable ? 'tile is-unavailable' : 'tile'} style={tinted(boardColor(id))}>
        <TileContent board={board} now={now} isUnavailable={isUnavailable} />
      </Link>
      {isOwner(board) && (
        <Menu
          label={t.actionsFor({ title })}
          className="icon-button tile-more"
          items={[
            {
              label: isArchived ? t.restoreBoard : t.archiveBoard,
              icon: isArchived ? 'undo' : 'archive',
              onSelect: onArchive,
            },
          ]}
        >
          <Icon name="more" />
        </Menu>
      )}
    </>
  )
}

function TileContent({ board, now, isUnavailable }: Pick<BoardTileProps, 'board' | 'now' | 'isUnavailable'>) {
  const { title, description, members, changed_at } = board
  const owner = otherOwner(board)
  return (
    <>
      <strong dir="auto">{title}</strong>
      {owner && (
        <span className="tile-owner" dir="auto">
          {t.ownedBy({ name: owner })}
        </span>
      )}
      {description && (
        <span className="tile-text" dir="auto">
          {description}
        </span>
      )}
      <span className="tile-facts">{isUnavailable ? t.notOffline : countsOf(board)}</span>
      <span className="tile-foot">
        <Avatars people={members.map(({ user }) => user)} label={t.members} />
        {changed_at && <time dateTime={changed_at}>{changedText(changed_at, now)}</time>}
      </span>
    </>
  )
}

const isOwner = ({ members }: ShownBoard): boolean =>
  members.some(({ user_id, role }) => user_id === me().id && role === 'owner')

/** The owner's name, if that is someone else. It tells apart boards with the same title. */
function otherOwner(board: ShownBoard): string | undefined {
  const { members, created_by } = board
  if (isOwner(board)) return undefined
  const owners = members.filter(({ role }) => role === 'owner')
  const owner = owners.find(({ user_id }) => user_id === created_by) ?? owners[0]
  return owner && nameOf(owner.user)
}

function countsOf({ open_cards, my_cards }: ShownBoard): string {
  if (open_cards === 0) return t.noOpenCards
  return my_cards > 0 ? t.openAndMine({ open: open_cards, mine: my_cards }) : t.openCards({ open: open_cards })
}

function changedText(changed_at: string, now: number): string {
  const time = relativeTime(changed_at, now)
  return time === undefined ? t.changedNow : t.changed({ time })
}
