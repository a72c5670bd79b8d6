// A company as Document 1's initiate wants it.
export const company = {
  legalName: 'Larch Ltd',
  website: 'https://larch.example',
  taxId: 'GB123',
  registrationNumber: '0815',
  jurisdiction: 'GB',
  registeredAddress: { line1: '1 Road', city: 'York', postalCode: 'YO1', country: 'GB' },
};
