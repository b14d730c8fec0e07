/** A project as a team would have it: the opening of a small café. */
export const labels = {
  urgent: '#dc2626',
  kitchen: '#d97706',
  money: '#16a34a',
  people: '#2563eb',
  outside: '#9333ea',
} as const

type LabelName = keyof typeof labels
interface DemoCard {
  title: string
  description?: string
  labels?: LabelName[]
  isMine?: boolean
  /** Due so many days after today. */
  dueInDays?: number
  /** The first `done` items are ticked. */
  checklist?: { title: string; items: string[]; done: number }
}
interface DemoColumn {
  title: string
  color: string
  is_done_column?: boolean
  cards: DemoCard[]
}

export const columns: DemoColumn[] = [
  {
    title: 'Ideas',
    color: '#6b7280',
    cards: [
      { title: 'Sunday brunch', labels: ['kitchen'] },
      { title: 'A shelf for books that people swap' },
      { title: 'Live music once a month', labels: ['people', 'outside'] },
      {
        title: 'Our own roast',
        description: 'The roaster on the corner lets us use their drum on Mondays.',
        labels: ['kitchen'],
      },
      { title: 'Cups to take along, with a deposit', labels: ['money'] },
      { title: 'A table for people who would like company', labels: ['people'] },
    ],
  },
  {
    title: 'To do',
    color: '#2563eb',
    cards: [
      {
        title: 'Permit for tables on the pavement',
        description: 'The office wants a drawing with all distances.',
        labels: ['urgent', 'outside'],
        isMine: true,
        dueInDays: -2,
        checklist: {
          title: 'Papers',
          items: ['Drawing', 'Consent of the neighbours', 'Insurance', 'Form 14b'],
          done: 1,
        },
      },
      {
        title: 'Hire two baristas',
        dueInDays: 5,
        labels: ['people'],
        checklist: {
          title: 'Steps',
          items: ['Write the notice', 'Talk to five people', 'A day on trial', 'Contracts'],
          done: 2,
        },
      },
      { title: 'Choose the till', labels: ['money'], isMine: true },
      { title: 'Photographs for the website' },
      { title: 'Order the sign above the door', labels: ['outside'] },
      { title: 'Fire drill with everybody', labels: ['people'] },
      { title: 'Prices for the first menu', labels: ['money', 'kitchen'] },
      { title: 'Find someone for the windows' },
    ],
  },
  {
    title: 'Doing',
    color: '#d97706',
    cards: [
      {
        title: 'Espresso machine',
        description: 'Two groups, second-hand. The water must be softened first.',
        labels: ['kitchen', 'urgent'],
        isMine: true,
        checklist: {
          title: 'Until it runs',
          items: ['Softener', 'Three-phase socket', 'Delivery', 'Descale', 'First shot'],
          done: 3,
        },
      },
      {
        title: 'First menu',
        labels: ['kitchen'],
        checklist: { title: 'Tastings', items: ['Cakes', 'Soups', 'Something without gluten'], done: 1 },
      },
      { title: 'Loan: talk to the second bank', labels: ['money'], isMine: true },
      { title: 'Paint the back room' },
      { title: 'Supplier of milk and oats', labels: ['kitchen'] },
    ],
  },
  {
    title: 'Waiting',
    color: '#9333ea',
    cards: [
      {
        title: 'Hygiene inspection',
        description: 'They come within three weeks. See also #7.',
        labels: ['urgent', 'kitchen'],
        dueInDays: 21,
      },
      { title: 'Telephone and internet' },
      { title: 'Reply from the neighbours', labels: ['outside'] },
      { title: 'Samples of three roasts', labels: ['kitchen'] },
    ],
  },
  {
    title: 'Done',
    color: '#16a34a',
    is_done_column: true,
    cards: [
      { title: 'Sign the lease', labels: ['money'], isMine: true },
      { title: 'A name', description: 'It took four evenings.' },
      {
        title: 'Found the company',
        labels: ['money'],
        checklist: { title: 'Offices', items: ['Notary', 'Register', 'Tax number'], done: 3 },
      },
      { title: 'Bank account', labels: ['money'] },
      { title: 'Clear out the cellar', labels: ['people'] },
      { title: 'Chairs from the old school', isMine: true },
      { title: 'Insurance', labels: ['money'] },
    ],
  },
]
