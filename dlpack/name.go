package dlpack

// The names of the capsules and attributes that carry records (R8, R36, R50). They are compared byte by byte.
const (
	CapsuleLegacy        = "dltensor"                // a ManagedTensor that is not consumed yet
	CapsuleLegacyUsed    = "used_dltensor"           // a consumed one
	CapsuleVersioned     = "dltensor_versioned"      // a ManagedTensorVersioned that is not consumed yet
	CapsuleVersionedUsed = "used_dltensor_versioned" // a consumed one

	ExchangeCapsule = "dlpack_exchange_api"       // a capsule that holds an ExchangeAPI
	ExchangeAttr    = "__dlpack_c_exchange_api__" // the type's attribute for that capsule in DLPack 1.3
	ExchangeAttrInt = "__c_dlpack_exchange_api__" // the type's attribute for the table's address, an int, in DLPack 1.2
)
