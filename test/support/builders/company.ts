// A company with the fields that Document 1's initiate requires.
export const company = {
  legalName: 'Larch Ltd',
  website: 'https://larch.example',
  taxId: 'GB123',
  registrationNumber: '0815',
  jurisdiction: 'GB',
  registeredAddress: { line1: '1 Road', city: 'York', postalCode: 'YO1', country: 'GB' },
};
