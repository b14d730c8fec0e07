import type { Card, User } from '@lockstep/client'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useId,
  useInsertionEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useShownBoard } from '../board-state/shown-board.ts'
import { applyEdit, commandOf, handleFormatKey, selectionOf } from '../card/area-edits.ts'
import { kindOf } from '../card/file-kinds.ts'
import { type Format, FormatToolbar } from '../card/format-toolbar.tsx'
import { UploadingImage } from '../card/uploading-image.tsx'
import type { PastedImages } from '../card/use-pasted-images.ts'
import { announce } from '../ui/announcer.tsx'
import { MentionList, matchingMembers } from './mention-list.tsx'
import { type MentionText, mentionName, mentionQuery, storedText } from './mentions.ts'
import { t } from './messages.ts'

export const MAX_LENGTH = 16_384
/** Above the field if the list fits there. */
const LIST_HEIGHT = 240

/** Why a text cannot be sent. Characters are counted as the server does. */
export function lengthProblem(value: MentionText): string | undefined {
  const { length } = Array.from(storedText(value))
  return length > MAX_LENGTH ? t.tooLong({ length, max: MAX_LENGTH }) : undefined
}

interface CommentEditorProps {
  card: Card
  label: string
  placeholder?: string
  value: MentionText
  area: RefObject<HTMLTextAreaElement | null>
  hasToolbar: boolean
  isSending: boolean
  pasted: PastedImages
  problem: string | undefined
  onChange: (value: MentionText) => void
  onSend: () => void
  onEscape: () => void
  onAttach: () => void
  /** The buttons. */
  children: ReactNode
}

/** A field for Markdown that grows with its text, in which `@` opens a list of members. */
export function CommentEditor({
  card,
  label,
  placeholder,
  value,
  area,
  hasToolbar,
  isSending,
  pasted,
  problem,
  onChange,
  onSend,
  onEscape,
  onAttach,
  children,
}: CommentEditorProps) {
  const id = useId()
  const people = useRef(value.people)
  useInsertionEffect(() => {
    people.current = value.people
  }, [value.people])
  const images = useMemo(() => card.attachments.filter((each) => kindOf(each) === 'image'), [card.attachments])
  const mention = useMentions(area, value, people)
  const format = (change: Format) => {
    if (!area.current) return
    area.current.focus()
    applyEdit(area.current, change(selectionOf(area.current)))
  }
  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing) return
    if (mention.handleKey(event)) return event.preventDefault()
    if (event.key === 'Escape') onEscape()
    else if (commandOf(event) === 'enter') onSend()
    else if (!handleFormatKey(event)) return
    event.preventDefault()
  }
  const shownProblem = problem ?? lengthProblem(value)
  return (
    <div className="comment-editor">
      {hasToolbar && <FormatToolbar onFormat={format} images={images} onAttach={onAttach} />}
      <div className="comment-field">
        <textarea
          ref={area}
          className="cd-area comment-area"
          dir="auto"
          rows={1}
          aria-label={label}
          aria-describedby={shownProblem ? `${id}-problem` : undefined}
          aria-invalid={shownProblem !== undefined}
          aria-autocomplete="list"
          aria-controls={mention.found.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={mention.found.length > 0 ? `${id}-list-${mention.active}` : undefined}
          placeholder={placeholder}
          readOnly={isSending}
          value={value.text}
          onChange={(event) => {
            mention.search(event.target)
            onChange({ text: event.target.value, people: people.current })
          }}
          onBlur={mention.close}
          onKeyDown={handleKey}
          onPaste={pasted.onPaste}
          onDrop={pasted.onDrop}
        />
        {mention.found.length > 0 && (
          <MentionList
            id={`${id}-list`}
            found={mention.found}
            active={mention.active}
            isBelow={mention.isBelow}
            onPick={mention.pick}
          />
        )}
      </div>
      {shownProblem && (
        <p id={`${id}-problem`} className="cd-bar is-danger" role="alert">
          {shownProblem}
        </p>
      )}
      {pasted.isUploading && <UploadingImage />}
      {children}
    </div>
  )
}

interface OpenList {
  at: number
  query: string
  active: number
  isBelow: boolean
}

/** The list of members that `@` opens. */
function useMentions(
  area: RefObject<HTMLTextAreaElement | null>,
  value: MentionText,
  people: RefObject<MentionText['people']>,
) {
  const { view } = useShownBoard()
  const [open, setOpen] = useState<OpenList>()
  /** The `@` for which the list was closed with Escape. */
  const dismissed = useRef<number>(undefined)
  const members = useMemo(() => view.members.map(({ user }) => user), [view.members])
  const found = useMemo(() => (open ? matchingMembers(members, open.query) : []), [members, open])

  const search = (field: HTMLTextAreaElement) => {
    const typed = mentionQuery(field.value, field.selectionStart)
    const isChosen = typed && [...people.current.keys()].some((name) => typed.query.startsWith(name))
    if (typed?.at !== dismissed.current) dismissed.current = undefined
    if (!typed || isChosen || typed.at === dismissed.current) return setOpen(undefined)
    const count = matchingMembers(members, typed.query).length
    if (count > 0) announce(t.membersFound({ count }))
    setOpen({ ...typed, active: 0, isBelow: spaceAbove(field) < LIST_HEIGHT })
  }
  const pick = (user: User) => {
    const field = area.current
    if (!field || !open) return
    const name = mentionName(user, members)
    people.current = new Map(people.current).set(name, user.id)
    const insert = `@${name} `
    const end = open.at + insert.length
    setOpen(undefined)
    field.focus()
    const to = open.at + 1 + open.query.length
    // A space that is there already is not doubled.
    applyEdit(field, { from: open.at, to: value.text[to] === ' ' ? to + 1 : to, insert, start: end, end })
  }
  const handleKey = ({ key }: KeyboardEvent): boolean => {
    const user = open && found[open.active]
    if (!open || !user) return false
    const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (by !== 0) setOpen({ ...open, active: (open.active + by + found.length) % found.length })
    else if (key === 'Enter' || key === 'Tab') pick(user)
    else if (key === 'Escape') {
      dismissed.current = open.at
      setOpen(undefined)
    } else return false
    return true
  }
  return {
    found,
    active: open?.active ?? 0,
    isBelow: open?.isBelow ?? false,
    search,
    pick,
    handleKey,
    close: () => setOpen(undefined),
  }
}

const spaceAbove = (field: HTMLElement): number =>
  field.getBoundingClientRect().top - (field.closest('.dialog-body')?.getBoundingClientRect().top ?? 0)
