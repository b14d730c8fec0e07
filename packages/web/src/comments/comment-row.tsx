import type { Card, Comment } from '@lockstep/client'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { readDraft, useDraftName, writeDraft } from '../card/drafts.ts'
import { RenderedText } from '../card/rendered-text.tsx'
import { usePastedImages } from '../card/use-pasted-images.ts'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { fullDate, shortDate } from '../ui/dates.ts'
import { errorMessage } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { CommentEditor, lengthProblem } from './comment-editor.tsx'
import { type MentionText, shownText, storedText } from './mentions.ts'
import { t } from './messages.ts'

interface CommentRowProps {
  comment: Comment
  card: Card
  /** Whether it was opened by its link, a moment ago. */
  isMarked: boolean
  onSaved: (comment: Comment) => void
  onDelete: () => void
  onAttach: () => void
}

export function CommentRow({ comment, card, isMarked, onSaved, onDelete, onAttach }: CommentRowProps) {
  const tools = useTools()
  const { author, body, created_at, edited_at } = comment
  const [isEditing, setEditing] = useState(false)
  const row = useRef<HTMLLIElement>(null)
  const images = useMemo(() => new Set(card.attachments.map(({ id }) => id)), [card.attachments])
  const name = nameOf(author)
  const isMine = author.id === tools.me.id
  const { isOwner, isReadOnly } = useShownBoard()
  const close = () => {
    setEditing(false)
    focusAfterRender(() => row.current?.querySelector<HTMLElement>('.comment-head button'))
  }
  return (
    <li
      ref={row}
      className={isMarked ? 'comment is-marked' : 'comment'}
      data-comment-id={comment.id}
      tabIndex={-1}
      aria-label={t.commentBy({ name, date: shortDate(created_at) })}
    >
      <span aria-hidden="true">
        <Avatar person={author} />
      </span>
      <div className="comment-content">
        <div className="comment-head">
          <b dir="auto">{name}</b>
          <time dateTime={created_at} title={fullDate(created_at)}>
            {shortDate(created_at)}
          </time>
          {edited_at && <span title={t.editedAt({ date: fullDate(edited_at) })}>{t.edited}</span>}
          <span className="spacer" />
          {!isEditing && (
            <Menu
              label={t.actions({ name })}
              items={[
                {
                  label: t.copyLink,
                  icon: 'link',
                  onSelect: () => void copyText(linkTo(tools.board_id, comment), t.linkCopied),
                },
                ...(isMine && !isReadOnly
                  ? [{ label: t.edit, icon: 'edit' as const, onSelect: () => setEditing(true) }]
                  : []),
                ...((isMine || isOwner) && !isReadOnly
                  ? [{ label: t.delete, icon: 'trash' as const, isDanger: true, onSelect: onDelete }]
                  : []),
              ]}
            >
              <Icon name="more" />
            </Menu>
          )}
        </div>
        {isEditing ? (
          <EditedComment card={card} comment={comment} onSaved={onSaved} onClose={close} onAttach={onAttach} />
        ) : (
          <RenderedText text={body} images={images} hasMentions />
        )}
      </div>
    </li>
  )
}

const linkTo = (board_id: string, { id, card_id }: Comment) =>
  `${location.origin}/app/b/${board_id}/c/${card_id}?comment=${id}`

interface EditedCommentProps extends Pick<CommentRowProps, 'card' | 'comment' | 'onSaved' | 'onAttach'> {
  onClose: () => void
}

/** The editor in place of a comment. Escape keeps the text as a draft, Cancel discards it. */
function EditedComment({ card, comment, onSaved, onClose, onAttach }: EditedCommentProps) {
  const draftName = useDraftName(comment.id, 'body')
  const [value, setValue] = useState(() => shownText(readDraft(draftName)?.text ?? comment.body))
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const area = useRef<HTMLTextAreaElement>(null)
  const pasted = usePastedImages(card.id, area, value.text)
  const cannotSave = isSending || pasted.isUploading || value.text.trim() === ''
  // In the same frame as the menu button disappears: a dialog that sees the focus lost takes it back later.
  useLayoutEffect(() => {
    area.current?.focus()
    area.current?.setSelectionRange(area.current.value.length, area.current.value.length)
    area.current?.closest('.comment-editor')?.scrollIntoView({ block: 'nearest' })
  }, [])
  const write = (next: MentionText) => {
    setValue(next)
    setProblem(undefined)
    const text = storedText(next)
    writeDraft(draftName, text === comment.body ? undefined : { text, base: comment.body })
  }
  const save = async () => {
    if (cannotSave || lengthProblem(value)) return
    setProblem(undefined)
    setSending(true)
    try {
      onSaved(await client.updateComment({ comment_id: comment.id, body: storedText(value) }))
      writeDraft(draftName, undefined)
      announce(t.saved)
      onClose()
    } catch (error) {
      setProblem(t.notSaved({ reason: errorMessage(error) }))
      setSending(false)
    }
  }
  return (
    <CommentEditor
      card={card}
      label={t.editComment}
      value={value}
      area={area}
      hasToolbar
      isSending={isSending}
      pasted={pasted}
      problem={problem}
      onChange={write}
      onSend={() => void save()}
      onEscape={onClose}
      onAttach={onAttach}
    >
      <div className="cd-editor-foot">
        <button type="button" className="button is-primary" aria-disabled={cannotSave} onClick={() => void save()}>
          {t.save} <Keys keys="Ctrl Enter" />
        </button>
        <button
          type="button"
          className="button is-quiet"
          onClick={() => {
            writeDraft(draftName, undefined)
            onClose()
          }}
        >
          {t.cancel}
        </button>
      </div>
    </CommentEditor>
  )
}
