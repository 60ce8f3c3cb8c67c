// What records look like from outside: DynamoDB gives attributes in any order, and an answer that is asked for again
// must be the same to the byte, or no entity tag would ever hold.

const shape =
	(...fields) =>
	(item) =>
		Object.fromEntries(fields.map((field) => [field, item[field] ?? null]))

export const committeeShape = shape(
	"committeeID",
	"nameArabe",
	"nameLatin",
	"type",
	"dateOfEst",
	"VAT",
	"address",
	"region",
	"city",
	"postalCode",
	"isActive",
	"primaryEmail",
	"secondaryEmail",
	"primaryPhone",
	"secondaryPhone",
)

export const activityShape = shape(
	"loginActivityID",
	"userID",
	"ip",
	"continent",
	"countryCode",
	"country",
	"city",
	"region",
	"isp",
	"lat",
	"lon",
	"browser",
	"os",
	"device",
	"createdAt",
)

export const courseShape = shape(
	"courseID",
	"committeeID",
	"courseTitle",
	"courseSubTitle",
	"price",
	"currency",
	"location",
	"courseType",
	"sectionOfMatter",
	"language",
	"region",
	"city",
	"startAt",
	"endAt",
	"state",
	"version",
	"questionCount",
	"createdBy",
	"createdAt",
	"updatedAt",
	"publishedAt",
)
