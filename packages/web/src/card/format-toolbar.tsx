import type { Attachment } from '@lockstep/client'
import type { ReactNode } from 'react'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { shownName } from './file-kinds.ts'
import { code, image, toggleHeading, toggleList } from './format-text.ts'
import { t } from './messages.ts'
import { link, type SelectedText, type TextEdit, wrap } from './text-keys.ts'

export type Format = (selected: SelectedText) => TextEdit

interface FormatToolbarProps {
  onFormat: (format: Format) => void
  /** The images of the card. */
  images: readonly Attachment[]
  onAttach: () => void
}

const formats: { label: string; format: Format; content: ReactNode }[] = [
  { label: t.bold, format: (selected) => wrap(selected, '**'), content: <b>B</b> },
  { label: t.italic, format: (selected) => wrap(selected, '_'), content: <i>I</i> },
  { label: t.heading, format: toggleHeading, content: <b>H</b> },
  { label: t.bulletList, format: (selected) => toggleList(selected, 'bullet'), content: <Icon name="list" /> },
  { label: t.numberList, format: (selected) => toggleList(selected, 'number'), content: <Icon name="numbers" /> },
  { label: t.taskList, format: (selected) => toggleList(selected, 'task'), content: <Icon name="check" /> },
  { label: t.link, format: link, content: <Icon name="link" /> },
  { label: t.code, format: code, content: <code>{'<>'}</code> },
]

/** Buttons that format the selection of the editor. */
export function FormatToolbar({ onFormat, images, onAttach }: FormatToolbarProps) {
  const insert = (attachment: Attachment) => {
    const shown = { id: attachment.id, name: shownName(attachment.name) }
    // After the menu has returned the focus.
    setTimeout(() => onFormat((selected) => image(selected, shown)))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className="cd-format" role="group" aria-label={t.formatting}>
      {formats.map(({ label, format, content }) => (
        <button
          key={label}
          type="button"
          className="icon-button"
          aria-label={label}
          title={label}
          onClick={() => onFormat(format)}
        >
          {content}
        </button>
      ))}
      <Menu
        label={t.image}
        items={[
          ...images.map((attachment) => ({
            label: shownName(attachment.name),
            icon: 'file' as const,
            onSelect: () => insert(attachment),
          })),
          { label: t.attachFiles, icon: 'upload', onSelect: onAttach },
        ]}
      >
        <Icon name="image" />
      </Menu>
    </div>
  )
}
