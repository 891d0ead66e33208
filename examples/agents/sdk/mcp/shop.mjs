export const shop = {
  price: {
    apple: 'one',
    bread: 'two',
    cheese: 'nine',
    milk: 'two',
    pear: 'five',
    rice: 'ten',
    salt: 'one',
    tea: 'fifty',
  },
  stock: {
    apple: 'forty',
    bread: 'ten',
    cheese: 'five',
    milk: 'fifty',
    pear: 'nine',
    rice: 'two',
    salt: 'twenty',
    tea: 'one',
  },
}
