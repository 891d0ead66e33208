/** What ALFWorld says (MIT license), for games that come without their texts. The task's own sentence is filled in. */
const RULES = {
  intro: ['-= Welcome to TextWorld, ALFRED! =-\n\n#look.feedback#\n\n#task#'],
  task: [''],
  'look.feedback': [
    {
      condition: 'atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)',
      rhs: '#facing#. Next to it, you see #floor#.',
    },
    'You are in the middle of a room. Looking quickly around you, you see #furniture#.',
  ],
  facing: [
    'You are facing the [{r.name | atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)}]',
  ],
  floor: [
    "[{o.indefinite + ' ' + o.name | atlocation(a:agent, l:location) & objectatlocation(o:object, l:location) & receptacleatlocation(r:receptacle, l:location) & not_inreceptacle(o:object, r:receptacle)}]",
  ],
  furniture: ["[{r.indefinite + ' ' + r.name | receptacleatlocation(r:receptacle, l:location)}]"],
  inside: ["[{o.indefinite + ' ' + o.name | inreceptacle(o:object, r:receptacle)}]"],
  'inventory.feedback': [
    {
      condition: 'holdsany(a:agent)',
      rhs: "You are carrying: [{o.indefinite + ' ' + o.name | holds(a:agent, o:object)}].",
    },
    'You are not carrying anything.',
  ],
  'receptacle.feedback': [
    {
      condition: 'openable(r:receptacle) & opened(r:receptacle)',
      rhs: 'The {r.name} is open. In it, you see #inside#.',
    },
    { condition: 'openable(r:receptacle)', rhs: 'The {r.name} is closed.' },
    'On the {r.name}, you see #inside#.',
  ],
  'object.feedback': [
    {
      condition: 'isreceptacleobject(o:object)',
      rhs: "This is a normal {o.name}. In it, you see [{o2.indefinite + ' ' + o2.name | inreceptacleobject(o2:object, o:object)}].",
    },
    ...states(['isclean', 'ishot', 'issliced'], 'a hot and clean sliced'),
    ...states(['isclean', 'iscool', 'issliced'], 'a cool and clean sliced'),
    ...states(['isclean', 'issliced'], 'a clean sliced'),
    ...states(['ishot', 'issliced'], 'a hot sliced'),
    ...states(['iscool', 'issliced'], 'a cool sliced'),
    ...states(['isclean', 'ishot'], 'a hot and clean'),
    ...states(['isclean', 'iscool'], 'a cool and clean'),
    ...states(['ishot'], 'a hot'),
    ...states(['isclean'], 'a clean'),
    ...states(['iscool'], 'a cold'),
    { condition: 'toggleable(o:object) & istoggled(o:object)', rhs: 'This {o.name} is on.' },
    { condition: 'toggleable(o:object) & not_istoggled(o:object)', rhs: 'This {o.name} is off.' },
    ...states(['sliceable', 'issliced'], 'a sliced'),
    "There's nothing special about {o.name}.",
  ],
  'toggle.feedback': [
    { condition: 'toggleable(o:object) & istoggled(o:object)', rhs: 'You turn on the {o.name}.' },
    { condition: 'toggleable(o:object)', rhs: 'You turn off the {o.name}.' },
    "You don't see any switch on the {o.name}.",
  ],
  list_empty: ['nothing'],
  list_separator: [', '],
  list_last_separator: [', and '],
}

function states(predicates: readonly string[], adjectives: string) {
  return [
    {
      condition: predicates.map((predicate) => `${predicate}(o:object)`).join(' & '),
      rhs: `This is ${adjectives} {o.name}.`,
    },
  ]
}

const COMMANDS = [
  ['look:', 'look around your current location'],
  ['inventory:', 'check your current inventory'],
  ['go to (receptacle):', 'move to a receptacle'],
  ['open (receptacle):', 'open a receptacle'],
  ['close (receptacle):', 'close a receptacle'],
  ['take (object) from (receptacle):', 'take an object from a receptacle'],
  ['move (object) to (receptacle):', 'place an object in or on a receptacle'],
  ['examine (something):', 'examine a receptacle or an object'],
  ['use (object):', 'use an object'],
  ['heat (object) with (receptacle):', 'heat an object using a receptacle'],
  ['clean (object) with (receptacle):', 'clean an object using a receptacle'],
  ['cool (object) with (receptacle):', 'cool an object using a receptacle'],
  ['slice (object) with (object):', 'slice an object using a sharp object'],
]

/** The original puts one blank too few after `move`. */
const help = COMMANDS.map(
  ([command, what]) => `  ${command.startsWith('move') ? `${command}  ` : command.padEnd(34)}${what}`,
)

/** Action, command, what is told. */
const ACTIONS: readonly (readonly [string, string, string])[] = [
  ['look', 'look', '#look.feedback#'],
  ['inventory', 'inventory', '#inventory.feedback#'],
  ['help', 'help', `Available commands:\n${help.join('\n')}\n`],
  ['examineReceptacle', 'examine {r}', '#receptacle.feedback#'],
  ['examineObject', 'examine {o}', '#object.feedback#'],
  [
    'GotoLocation',
    'go to [{r.name | receptacleatlocation(r:receptacle, lend:location)}]',
    'You arrive at {r.name}. #receptacle.feedback#',
  ],
  ['OpenObject', 'open {r}', 'You open the {r.name}. #receptacle.feedback#'],
  ['CloseObject', 'close {r}', 'You close the {r.name}.'],
  ['PickupObject', 'take {o} from {r}', 'You pick up the {o.name} from the {r.name}.'],
  ['PutObject', 'move {o} to {r}', 'You move the {o.name} to the {r.name}.'],
  ['CleanObject', 'clean {o} with {r}', 'You clean the {o.name} using the {r.name}.'],
  ['HeatObject', 'heat {o} with {r}', 'You heat the {o.name} using the {r.name}.'],
  ['CoolObject', 'cool {o} with {r}', 'You cool the {o.name} using the {r.name}.'],
  ['ToggleObject', 'use {o}', '#toggle.feedback#'],
  ['SliceObject', 'slice {co} with {ko}', 'You sliced the {co.name} with the {ko.name}.'],
]

const rules = Object.entries(RULES).map(([name, list]) => [
  name,
  list.map((one) => (typeof one === 'string' ? { rhs: one } : one)),
])

export const GRAMMAR = [
  `grammar :: """${JSON.stringify(Object.fromEntries(rules))}""";`,
  ...ACTIONS.map(
    ([name, template, feedback]) => `action ${name} { template :: "${template}"; feedback :: "${feedback}"; }`,
  ),
].join('\n')
