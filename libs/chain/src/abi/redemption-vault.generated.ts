// Generated from contracts/src/RedemptionVault.sol by contracts/compile.mjs; do not edit.

export const redemptionVaultAbi = [
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "token_",
        "type": "address"
      },
      {
        "components": [
          {
            "internalType": "address",
            "name": "admin",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "signer",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "canceller",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "pauser",
            "type": "address"
          }
        ],
        "internalType": "struct RedemptionVault.Roles",
        "name": "roles",
        "type": "tuple"
      },
      {
        "internalType": "uint256",
        "name": "windowSeconds_",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "windowCap_",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "AccessControlBadConfirmation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "neededRole",
        "type": "bytes32"
      }
    ],
    "name": "AccessControlUnauthorizedAccount",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ECDSAInvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "length",
        "type": "uint256"
      }
    ],
    "name": "ECDSAInvalidSignatureLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "ECDSAInvalidSignatureS",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "EnforcedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ExpectedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InexactTransfer",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "held",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "requested",
        "type": "uint256"
      }
    ],
    "name": "InsufficientVault",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      }
    ],
    "name": "InvalidRecipient",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "NotAContract",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "recovered",
        "type": "address"
      }
    ],
    "name": "NotASigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "enum RedemptionVault.Status",
        "name": "status",
        "type": "uint8"
      }
    ],
    "name": "RedemptionNotOpen",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ReentrancyGuardReentrantCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "VoucherExpired",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "remaining",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "requested",
        "type": "uint256"
      }
    ],
    "name": "WindowCapExceeded",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAmount",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroWindow",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "canceller",
        "type": "address"
      }
    ],
    "name": "Cancelled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "signer",
        "type": "address"
      }
    ],
    "name": "Claimed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Paused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "previousAdminRole",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "newAdminRole",
        "type": "bytes32"
      }
    ],
    "name": "RoleAdminChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "RoleGranted",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "RoleRevoked",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Unpaused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "previous",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "current",
        "type": "uint256"
      }
    ],
    "name": "WindowCapChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "contract IERC20",
        "name": "asset",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Withdrawn",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "CANCELLER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "DEFAULT_ADMIN_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "PAUSER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "SIGNER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "VOUCHER_TYPEHASH",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      }
    ],
    "name": "cancel",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "claim",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      }
    ],
    "name": "getRoleAdmin",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "grantRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "hasRole",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "paused",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "remainingInWindow",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "callerConfirmation",
        "type": "address"
      }
    ],
    "name": "renounceRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "revokeRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "cap",
        "type": "uint256"
      }
    ],
    "name": "setWindowCap",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      }
    ],
    "name": "status",
    "outputs": [
      {
        "internalType": "enum RedemptionVault.Status",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes4",
        "name": "interfaceId",
        "type": "bytes4"
      }
    ],
    "name": "supportsInterface",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "token",
    "outputs": [
      {
        "internalType": "contract IERC20",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "unpause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "voucherDigest",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "windowCap",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "windowSeconds",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "asset",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "withdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const;

export const redemptionVaultBytecode =
  '0x6101a0604052348015610010575f5ffd5b5060405161231e38038061231e83398101604081905261002f91610417565b6040518060400160405280601881526020017f4c6f776d61726b20526564656d7074696f6e205661756c740000000000000000815250604051806040016040528060018152602001603160f81b81525061008e826102c960201b60201c565b6101205261009b816102c9565b61014052815160208084019190912060e052815190820120610100524660a05261012760e05161010051604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201529081019290925260608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60805250503060c0526001600160a01b0384163b5f0361016a576040516322a2d07b60e21b81526001600160a01b03851660048201526024015b60405180910390fd5b82516001600160a01b0316158061018c575060208301516001600160a01b0316155b806101a2575060408301516001600160a01b0316155b806101b8575060608301516001600160a01b0316155b156101d65760405163d92e233d60e01b815260040160405180910390fd5b815f036101f657604051634acbbb6560e01b815260040160405180910390fd5b6001600160a01b0384166101605261018082905261021381610306565b8251610220905f90610347565b506102557fe2f4eaae4a9751e85a3e4a7b9587827a877f29914755229b07a7b2da98285f70846020015161034760201b60201c565b5061028a7ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f783846040015161034760201b60201c565b506102bf7f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a846060015161034760201b60201c565b505050505061052d565b5f5f829050601f815111156102f3578260405163305a27a960e01b815260040161016191906104d2565b80516102fe82610507565b179392505050565b60045460408051918252602082018390527f1d59a09050bfd5dc64c2fd6fafd47fdb38a262f98b419d9cdd86c740924e68d8910160405180910390a1600455565b5f828152602081815260408083206001600160a01b038516845290915281205460ff166103e7575f838152602081815260408083206001600160a01b03861684529091529020805460ff1916600117905561039f3390565b6001600160a01b0316826001600160a01b0316847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a45060016103ea565b505f5b92915050565b6001600160a01b0381168114610404575f5ffd5b50565b8051610412816103f0565b919050565b5f5f5f5f84860360e081121561042b575f5ffd5b8551610436816103f0565b94506080601f1982011215610449575f5ffd5b50604051608081016001600160401b038111828210171561047857634e487b7160e01b5f52604160045260245ffd5b60405261048760208701610407565b815261049560408701610407565b60208201526104a660608701610407565b60408201526104b760808701610407565b606082015260a086015160c090960151949790965092505050565b602081525f82518060208401528060208501604085015e5f604082850101526040601f19601f83011684010191505092915050565b80516020808301519190811015610527575f198160200360031b1b821691505b50919050565b60805160a05160c05160e0516101005161012051610140516101605161018051611d5b6105c35f395f81816102330152818161059e0152610fee01525f81816104180152818161106c01528181611134015281816111fd0152818161125c015261133101525f610db001525f610d8501525f61157b01525f61155301525f6114ae01525f6114d801525f6115020152611d5b5ff3fe608060405234801561000f575f5ffd5b506004361061019a575f3560e01c806391d14854116100e8578063ce428b6311610093578063d9caed121161006e578063d9caed12146103c6578063e63ab1e9146103d9578063f0dfae7014610400578063fc0c546a14610413575f5ffd5b8063ce428b6314610397578063d4cca3b3146103a0578063d547741f146103b3575f5ffd5b8063a217fddf116100c3578063a217fddf14610356578063b08e51c01461035d578063c4d252f514610384575f5ffd5b806391d14854146102c557806394739e8714610308578063a1ebf35d1461032f575f5ffd5b80634cb5929a1161014857806376a8c0bb1161012357806376a8c0bb1461028f5780638456cb59146102a257806384b0196e146102aa575f5ffd5b80634cb5929a1461022e57806352ad0d5e146102555780635c975abb14610284575f5ffd5b806336568abe1161017857806336568abe1461020b5780633f4ba83a1461021e57806345d95d3414610226575f5ffd5b806301ffc9a71461019e578063248a9ca3146101c65780632f2ff15d146101f6575b5f5ffd5b6101b16101ac36600461196d565b61045f565b60405190151581526020015b60405180910390f35b6101e86101d43660046119ac565b5f9081526020819052604090206001015490565b6040519081526020016101bd565b6102096102043660046119e4565b6104f7565b005b6102096102193660046119e4565b610521565b61020961057f565b6101e8610594565b6101e87f000000000000000000000000000000000000000000000000000000000000000081565b6102776102633660046119ac565b60056020525f908152604090205460ff1681565b6040516101bd9190611a78565b60035460ff166101b1565b6101e861029d366004611a86565b6105f4565b61020961067b565b6102b26106ad565b6040516101bd9796959493929190611b0c565b6101b16102d33660046119e4565b5f9182526020828152604080842073ffffffffffffffffffffffffffffffffffffffff93909316845291905290205460ff1690565b6101e87f2596ae6b2a2d7809eb099cf9487f155543f6b4ffc92d9c69280dded26fa31c8881565b6101e87fe2f4eaae4a9751e85a3e4a7b9587827a877f29914755229b07a7b2da98285f7081565b6101e85f81565b6101e87ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f78381565b6102096103923660046119ac565b61070b565b6101e860045481565b6102096103ae3660046119ac565b610790565b6102096103c13660046119e4565b6107a7565b6102096103d4366004611bcb565b6107cb565b6101e87f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a81565b61020961040e366004611c09565b6108ba565b61043a7f000000000000000000000000000000000000000000000000000000000000000081565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020016101bd565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f7965db0b0000000000000000000000000000000000000000000000000000000014806104f157507f01ffc9a7000000000000000000000000000000000000000000000000000000007fffffffff000000000000000000000000000000000000000000000000000000008316145b92915050565b5f8281526020819052604090206001015461051181610b1b565b61051b8383610b25565b50505050565b73ffffffffffffffffffffffffffffffffffffffff81163314610570576040517f6697b23200000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b61057a8282610c00565b505050565b5f61058981610b1b565b610591610c9b565b50565b6006545f906105c37f000000000000000000000000000000000000000000000000000000000000000042611cd2565b146105cf575060045490565b600754600454116105df57505f90565b6007546004546105ef9190611d0a565b905090565b604080517f2596ae6b2a2d7809eb099cf9487f155543f6b4ffc92d9c69280dded26fa31c88602082015290810185905273ffffffffffffffffffffffffffffffffffffffff841660608201526080810183905260a081018290525f906106729060c00160405160208183030381529060405280519060200120610cfa565b95945050505050565b7f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a6106a581610b1b565b610591610d41565b5f6060805f5f5f60606106be610d7e565b6106c6610da9565b604080515f808252602082019092527f0f000000000000000000000000000000000000000000000000000000000000009b939a50919850469750309650945092509050565b7ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f78361073581610b1b565b61073e82610dd4565b5f82815260056020908152604091829020805460ff19166002179055905133815283917f37f7fee84bd656bac1447df96e3014d8a7e8352e960e827b202efad2f908ecd3910160405180910390a25050565b5f61079a81610b1b565b6107a382610e33565b5050565b5f828152602081905260409020600101546107c181610b1b565b61051b8383610c00565b5f6107d581610b1b565b6107dd610e74565b73ffffffffffffffffffffffffffffffffffffffff831661082a576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b8273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167fd1c19fbcd4551a5edfb66d43d2e337c04837afda3482b42bdf569a8fccdae5fb8460405161088991815260200190565b60405180910390a36108b273ffffffffffffffffffffffffffffffffffffffff85168484610eab565b61051b610f06565b6108c2610f30565b6108ca610e74565b82421115610913576040517fef73b78700000000000000000000000000000000000000000000000000000000815260048101879052602481018490526044015b60405180910390fd5b61091c86610dd4565b73ffffffffffffffffffffffffffffffffffffffff85161580610954575073ffffffffffffffffffffffffffffffffffffffff851630145b156109a3576040517f17858bbe00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8616600482015260240161090a565b835f036109dc576040517f1f2a200500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f6109f36109ec888888886105f4565b8484610f6d565b73ffffffffffffffffffffffffffffffffffffffff81165f9081527f059f08e7d7ba1c82eddc57afae67f80df851baf38a099607a779825038c3ce5b602052604090205490915060ff16610a8b576040517fa029609200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8216600482015260240161090a565b5f878152600560205260409020805460ff19166001179055610aac85610f99565b6040805186815273ffffffffffffffffffffffffffffffffffffffff838116602083015288169189917fba78a15e874441cf1871e3d2633ba91540bab663ae8664088ace7d60009ddd65910160405180910390a3610b0a868661103c565b50610b13610f06565b505050505050565b61059181336113d4565b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915281205460ff16610bf9575f8381526020818152604080832073ffffffffffffffffffffffffffffffffffffffff861684529091529020805460ff19166001179055610b973390565b73ffffffffffffffffffffffffffffffffffffffff168273ffffffffffffffffffffffffffffffffffffffff16847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a45060016104f1565b505f6104f1565b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915281205460ff1615610bf9575f8381526020818152604080832073ffffffffffffffffffffffffffffffffffffffff86168085529252808320805460ff1916905551339286917ff6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b9190a45060016104f1565b610ca3611459565b6003805460ff191690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200160405180910390a1565b5f6104f1610d06611495565b836040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b610d49610f30565b6003805460ff191660011790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258610cd03390565b60606105ef7f00000000000000000000000000000000000000000000000000000000000000006115cb565b60606105ef7f00000000000000000000000000000000000000000000000000000000000000006115cb565b5f8181526005602052604081205460ff1690816002811115610df857610df8611a12565b146107a35781816040517fb2e624eb00000000000000000000000000000000000000000000000000000000815260040161090a929190611d1d565b60045460408051918252602082018390527f1d59a09050bfd5dc64c2fd6fafd47fdb38a262f98b419d9cdd86c740924e68d8910160405180910390a1600455565b610e7c611608565b610ea960017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005b90611661565b565b610eb88383836001611668565b61057a576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260240161090a565b610ea95f7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f00610ea3565b60035460ff1615610ea9576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f5f5f5f610f7c8787876116f0565b925092509250610f8c8282611737565b50909150505b9392505050565b5f610fa2610594565b905080821115610fe8576040517f703308c7000000000000000000000000000000000000000000000000000000008152600481018290526024810183905260440161090a565b5f6110137f000000000000000000000000000000000000000000000000000000000000000042611cd2565b905060065481146110245782611032565b826007546110329190611d31565b6007556006555050565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f907f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff16906370a0823190602401602060405180830381865afa1580156110c6573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906110ea9190611d44565b6040517f70a0823100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff85811660048301529192505f917f000000000000000000000000000000000000000000000000000000000000000016906370a0823190602401602060405180830381865afa158015611179573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061119d9190611d44565b9050828210156111e3576040517f556b850b000000000000000000000000000000000000000000000000000000008152600481018390526024810184905260440161090a565b61122473ffffffffffffffffffffffffffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000168585610eab565b61122e8383611d0a565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201527f000000000000000000000000000000000000000000000000000000000000000073ffffffffffffffffffffffffffffffffffffffff16906370a0823190602401602060405180830381865afa1580156112b6573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906112da9190611d44565b14158061139d57506112ec8382611d31565b6040517f70a0823100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff86811660048301527f000000000000000000000000000000000000000000000000000000000000000016906370a0823190602401602060405180830381865afa158015611376573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061139a9190611d44565b14155b1561051b576040517fee20c61800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915290205460ff166107a3576040517fe2517d3f00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff821660048201526024810183905260440161090a565b60035460ff16610ea9576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f3073ffffffffffffffffffffffffffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000161480156114fa57507f000000000000000000000000000000000000000000000000000000000000000046145b1561152457507f000000000000000000000000000000000000000000000000000000000000000090565b6105ef604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201527f0000000000000000000000000000000000000000000000000000000000000000918101919091527f000000000000000000000000000000000000000000000000000000000000000060608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60605f6115d78361183a565b6040805160208082528183019092529192505f91906020820181803683375050509182525060208101929092525090565b7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005c15610ea9576040517f3ee5aeb500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80825d5050565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f511483166116e45783831516156116d8573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b5f80806041849003611724578435602086013560408701355f1a6117168982858561187a565b95509550955050505061172e565b505f915060029050825b93509350939050565b5f82600381111561174a5761174a611a12565b03611753575050565b600182600381111561176757611767611a12565b0361179e576040517ff645eedf00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60028260038111156117b2576117b2611a12565b036117ec576040517ffce698f70000000000000000000000000000000000000000000000000000000081526004810182905260240161090a565b600382600381111561180057611800611a12565b036107a3576040517fd78bce0c0000000000000000000000000000000000000000000000000000000081526004810182905260240161090a565b5f60ff8216601f8111156104f1576040517fb3512b0c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a08411156118b357505f91506003905082611963565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa158015611904573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0015191505073ffffffffffffffffffffffffffffffffffffffff811661195a57505f925060019150829050611963565b92505f91508190505b9450945094915050565b5f6020828403121561197d575f5ffd5b81357fffffffff0000000000000000000000000000000000000000000000000000000081168114610f92575f5ffd5b5f602082840312156119bc575f5ffd5b5035919050565b73ffffffffffffffffffffffffffffffffffffffff81168114610591575f5ffd5b5f5f604083850312156119f5575f5ffd5b823591506020830135611a07816119c3565b809150509250929050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b60038110611a74577f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b9052565b602081016104f18284611a3f565b5f5f5f5f60808587031215611a99575f5ffd5b843593506020850135611aab816119c3565b93969395505050506040820135916060013590565b5f81518084528060208401602086015e5f6020828601015260207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011685010191505092915050565b7fff000000000000000000000000000000000000000000000000000000000000008816815260e060208201525f611b4660e0830189611ac0565b8281036040840152611b588189611ac0565b6060840188905273ffffffffffffffffffffffffffffffffffffffff8716608085015260a0840186905283810360c0850152845180825260208087019350909101905f5b81811015611bba578351835260209384019390920191600101611b9c565b50909b9a5050505050505050505050565b5f5f5f60608486031215611bdd575f5ffd5b8335611be8816119c3565b92506020840135611bf8816119c3565b929592945050506040919091013590565b5f5f5f5f5f5f60a08789031215611c1e575f5ffd5b863595506020870135611c30816119c3565b94506040870135935060608701359250608087013567ffffffffffffffff811115611c59575f5ffd5b8701601f81018913611c69575f5ffd5b803567ffffffffffffffff811115611c7f575f5ffd5b896020828401011115611c90575f5ffd5b60208201935080925050509295509295509295565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f82611d05577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b818103818111156104f1576104f1611ca5565b82815260408101610f926020830184611a3f565b808201808211156104f1576104f1611ca5565b5f60208284031215611d54575f5ffd5b505191905056' as const;

export const redemptionVaultRuntime = {
  "bytes": 7515,
  "immutables": [
    563,
    1048,
    1438,
    3461,
    3504,
    4078,
    4204,
    4404,
    4605,
    4700,
    4913,
    5294,
    5336,
    5378,
    5459,
    5499
  ]
} as const;
