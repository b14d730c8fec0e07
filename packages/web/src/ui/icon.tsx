/** Stroke paths on a 16 × 16 grid. */
const shapes = {
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  swap: 'M3 5.5h9M12 5.5 9.5 3M12 5.5 9.5 8M13 10.5H4M4 10.5 6.5 8M4 10.5 6.5 13',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  text: 'M3 4h10M3 8h10M3 12h6',
  clip: 'M13 7.5 8 12.5a3.2 3.2 0 0 1-4.5-4.5l5.2-5.2a2.1 2.1 0 0 1 3 3l-5.2 5.2a1 1 0 0 1-1.5-1.5l4.7-4.7',
  comment: 'M2.5 3h11v8H7.5L4.5 13.5V11h-2z',
  user: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.8 14a5.2 5.2 0 0 1 10.4 0',
  users:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.6a4.5 4.5 0 0 1 2.5 3.9',
  tag: 'M2.5 2.5h5l6 6-5 5-6-6v-5ZM5.5 5.5h.01',
  left: 'M10 3 5 8l5 5',
  right: 'M6 3l5 5-5 5',
  down: 'M3 6l5 5 5-5',
  move: 'M8 2v12M2 8h12M8 2 6 4M8 2l2 2M8 14l-2-2M8 14l2-2M2 8l2-2M2 8l2 2M14 8l-2-2M14 8l-2 2',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4',
  archive: 'M2 3h12v3.5H2zM3.2 6.5v7h9.6v-7M6.5 9.5h3',
  edit: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3 3 13Z',
  link: 'M6.5 9.5 9.5 6.5M7.5 4.5 9 3a2.8 2.8 0 0 1 4 4l-1.5 1.5M8.5 11.5 7 13a2.8 2.8 0 0 1-4-4l1.5-1.5',
  bolt: 'M9 1.5 3 9h4.5L7 14.5 13 7H8.5L9 1.5Z',
  calendar: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5',
  settings:
    'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM5.5 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7',
  undo: 'M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5l3-3M3 6.5l3 3',
  redo: 'M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M13 6.5l-3-3M13 6.5l-3 3',
  numbers: 'M7 4h7M7 8h7M7 12h7M2 3l1-.5v3M2 9.2c.3-.9 1.9-.9 1.9.1 0 .8-1.9 1.5-1.9 2.2h2',
  list: 'M6 4h8M6 8h8M6 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  file: 'M4 1.5h5l3 3v10H4zM9 1.5v3h3',
  image: 'M2 3h12v10H2zM2 11l3.5-3.5L9 11l2-2 3 3M10.5 6h.01',
  upload: 'M8 11V3M8 3 5 6M8 3l3 3M3 13.5h10',
  download: 'M8 3v8M8 11 5 8M8 11l3-3M3 13.5h10',
  out: 'M6.5 2.5h-4v11h4M6 8h8M14 8l-3-3M14 8l-3 3',
  bell: 'M2.5 11.5h11M4 11.5V6.5a4 4 0 0 1 8 0v5M6.5 14.2h3',
  send: 'M14 2 2 6.5l5 2.5M14 2 9.5 14 7 9M14 2 7 9',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  circle: 'M8 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  warn: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3M8 11.7h.01',
} as const

export type IconName = keyof typeof shapes

/** A decorative icon, hidden from screen readers: the text beside it says the same. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.4 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}
